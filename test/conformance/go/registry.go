// A registry of the token standard, from its published documents alone. With FAULT=name one thing is wrong.
package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

type object = map[string]any

var (
	admin         = "gold::1220"
	fault         = os.Getenv("FAULT")
	rules, config = strings.Repeat("0a", 33), strings.Repeat("0b", 33)
	waiting       = strings.Repeat("0c", 33) // A transfer instruction, an allocation instruction, an allocation.
	instruments   = []string{"GOLD", "GOLD BAR"}
	factory       = regexp.MustCompile(`^((transfer|allocation)-instruction/v[12]` + or("|allocation/v2", "not-served", "") + `)/\w+-factory$`)
	choice        = regexp.MustCompile(`^((transfer|allocation)-instruction|allocations)/v[12]/.+/choice-contexts/`)
	minor         = or(1, "minor-version-0", 0)
	apis          = object{"splice-api-token-metadata-v1": 1, "splice-api-token-holding-v1": minor,
		"splice-api-token-transfer-instruction-v1": minor, "splice-api-token-transfer-instruction-v2": 1,
		"splice-api-token-allocation-v1": 1, "splice-api-token-allocation-v2": 1,
		"splice-api-token-allocation-instruction-v1": 1, "splice-api-token-allocation-instruction-v2": 1}
	named = regexp.MustCompile(`"(?:expectedAdmin|admin)":"(.*?)"|"instrumentId":(?:\{"admin":"(.*?)","id":)?"(.*?)"`)
)

// or is the right value, or with a fault of that name the wrong one.
func or[T any](right T, name string, wrong T) T {
	if fault == name {
		return wrong
	}
	return right
}

func instrument(id string) object {
	return object{"id": id, "name": id, "symbol": "GLD", "decimals": or(2, "decimals-11", 11),
		"totalSupply": or("1000.0", "supply-with-separators", "1_000"), "supportedApis": apis}
}

func field(number byte, content string) string {
	return string([]byte{number<<3 | 2, byte(len(content))}) + content
}

// contract has a blob as Canton writes it: a version around an id and a template.
func contract(id, entity string) object {
	raw, _ := hex.DecodeString(or(id, "blob-of-another", waiting))
	template := field(1, "pkg") + field(2, "Gold") + field(3, entity)
	content := field(1, "2.1") + field(2, field(1, string(raw))+field(3, template))
	blob := base64.StdEncoding.EncodeToString([]byte(content))
	return object{"contractId": id, "templateId": "pkg:Gold:" + or(entity, "another-template", "Other"),
		"createdEventBlob": or(blob, "blob-in-base64url", strings.TrimRight(blob, "=")+"-_"),
		"synchronizerId":   or(or("global", "two-synchronizers", entity), "no-synchronizer", "")}
}

// choiceContext of a factory discloses the factory too.
func choiceContext(hasFactory bool) object {
	values := object{"config": object{"tag": or("AV_ContractId", "unknown-tag", "ContractId"), "value": config}}
	disclosed := []object{contract(config, "Config")}
	if hasFactory && fault != "factory-not-disclosed" {
		disclosed = append(disclosed, contract(rules, "Rules"))
	}
	data := or[any](or[any](object{"values": values}, "no-values", object{}), "null-context", nil)
	return object{"choiceContextData": data,
		"disclosedContracts": or(disclosed, "disclosed-twice", append(disclosed, disclosed...))}
}

// foreign is what the arguments name of another registry; empty if that is nothing.
func foreign(arguments object) string {
	sorted, _ := json.Marshal(arguments)
	for _, found := range named.FindAllStringSubmatch(string(sorted), -1) {
		of, id := found[1]+found[2], found[3]
		if of != "" && of != admin && fault != "foreign-admin" ||
			id != "" && !slices.Contains(instruments, id) && fault != "foreign-instrument" {
			return found[0]
		}
	}
	return ""
}

func metadata(asks []string, r *http.Request) (int, any) {
	switch {
	case r.Method != "GET":
		return or(405, "any-method", 200), object{"error": "GET alone"}
	case asks[0] == "info":
		return 200, object{"adminId": or(admin, "another-admin", "other::1220"), "supportedApis": apis}
	case len(asks) == 1: // A page has one instrument, and its token is the last id.
		at := or(slices.Index(instruments, r.URL.Query().Get("pageToken"))+1, "pages-without-end", 0)
		shown := []object{instrument(instruments[or(at, "listed-again", 0)])}
		if at > 0 {
			return 200, object{"instruments": shown}
		}
		return 200, object{"instruments": shown, "nextPageToken": instruments[0]}
	case fault == "any-id" || slices.Contains(instruments, or(asks[1], "escaped-id", path.Base(r.URL.EscapedPath()))):
		return 200, instrument(asks[1])
	}
	return 404, object{or("error", "error-without-error", "message"): "no such instrument"}
}

func answer(asks string, r *http.Request) (int, any) {
	if rest, is := strings.CutPrefix(asks, "metadata/v1/"); is {
		return metadata(strings.Split(rest, "/"), r)
	}
	text, _ := io.ReadAll(r.Body)
	body := object{}
	if json.Unmarshal(text, &body) != nil && (len(text) > 0 || fault == "body-required") {
		return or(400, "500-for-malformed", 500), object{"error": "the body is no JSON"}
	}
	if factory.MatchString(asks) {
		arguments, isObject := body["choiceArguments"].(object)
		if wrong := foreign(arguments); !isObject || wrong != "" {
			return 400, object{"error": "choiceArguments are missing, or of " + wrong}
		}
		transfer, _ := arguments["transfer"].(object)
		isSelf := fmt.Sprint(transfer["sender"]) == fmt.Sprint(transfer["receiver"]) && fault != "self-called-offer"
		kind := map[bool]string{true: "self", false: "offer"}[isSelf]
		return 200, object{"factoryId": rules, "transferKind": kind, "choiceContext": choiceContext(true)}
	}
	if choice.MatchString(asks) && (strings.Contains(asks, waiting) || fault == "any-contract") {
		return 200, choiceContext(false)
	}
	return or(404, "not-served", 501), object{"error": "nothing at " + asks}
}

func serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", or("*", "no-origin", ""))
	w.Header().Set("Content-Type", or("application/json", "no-json", "text/plain"))
	w.Header().Set("Access-Control-Allow-Headers", or("Authorization, Content-Type", "preflight", "Authorization"))
	status, body := answer(strings.TrimPrefix(or(path.Clean(r.URL.Path), "slashes", r.URL.Path), "/registry/"), r)
	if r.Method == "OPTIONS" {
		status, body = 200, ""
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func main() {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	fmt.Println("http://" + listener.Addr().String())
	fmt.Println(http.Serve(listener, http.HandlerFunc(serve)))
}
