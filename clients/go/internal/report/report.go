// Package report prints a line of JSON for each check.
package report

import (
	"encoding/json"
	"fmt"
	"os"
)

type line struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

var failed bool

// Check runs a check and prints what it saw, or why it failed.
func Check(name string, check func() (string, error)) {
	detail, err := check()
	if err != nil {
		failed = true
		detail = err.Error()
	}
	// A line of strings and a boolean always encodes.
	text, _ := json.Marshal(line{name, err == nil, detail})
	fmt.Println(string(text))
}

// Exit ends the program: with 1 if a check failed.
func Exit() {
	if failed {
		os.Exit(1)
	}
	os.Exit(0)
}

// Env returns an environment variable, which must be set.
func Env(name string) string {
	value := os.Getenv(name)
	if value == "" {
		fmt.Fprintf(os.Stderr, "%s must be set: run npm run test:clients\n", name)
		os.Exit(2)
	}
	return value
}
