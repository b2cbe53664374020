// A bare server of Go's net/http, HTTP/1.1 and HTTP/2 without TLS. Answers POST with the bodies of the first line of its
// input, {"type": …, "bodies": [base64]}, in turn; those of gRPC with a trailer. For each further line it prints the CPU
// time of its process so far, in microseconds. It ends with its input.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
)

func main() {
	var options struct {
		Type   string
		Bodies [][]byte
	}
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadBytes('\n')
	exitIf(err)
	exitIf(json.Unmarshal(line, &options))
	isGrpc := strings.HasPrefix(options.Type, "application/grpc")
	var count atomic.Uint64
	handler := func(response http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		response.Header().Set("Content-Type", options.Type)
		_, _ = response.Write(options.Bodies[count.Add(1)%uint64(len(options.Bodies))])
		if isGrpc {
			response.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	exitIf(err)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := http.Server{Handler: http.HandlerFunc(handler), Protocols: protocols}
	go func() { exitIf(server.Serve(listener)) }()
	fmt.Println("http://" + listener.Addr().String())
	for {
		if _, err := input.ReadBytes('\n'); err != nil {
			return
		}
		var usage syscall.Rusage
		exitIf(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
		fmt.Println((usage.Utime.Nano() + usage.Stime.Nano()) / 1000)
	}
}

func exitIf(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
