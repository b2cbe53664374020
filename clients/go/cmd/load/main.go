// Command load makes more calls than the service can answer: each must end as OK or as a refusal that says so.
package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	transferv2 "example.com/wallet/gen/offledger/transfer_instruction/v2"
	"example.com/wallet/internal/report"
	"example.com/wallet/internal/transfer"
)

const (
	calls       = 20_000
	connections = 50
	// Calls at a time on one connection.
	streams = 40
	limit   = 60 * time.Second
)

func main() {
	report.Check("load past the limit", load)
	report.Exit()
}

func load() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var remaining atomic.Int64
	remaining.Store(calls)
	var mutex sync.Mutex
	counts := map[codes.Code]int{}
	messages := map[codes.Code]string{}
	var workers sync.WaitGroup
	request := transfer.Version2()
	for range connections {
		target := strings.TrimPrefix(report.Env("OFFLEDGER_URL_SHEDDING"), "http://")
		connection, err := grpc.NewClient("passthrough:///"+target, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return "", err
		}
		defer connection.Close()
		client := transferv2.NewTransferInstructionServiceClient(connection)
		for range streams {
			workers.Go(func() {
				for remaining.Add(-1) >= 0 {
					_, err := client.GetTransferFactory(ctx, request)
					got := status.Convert(err)
					mutex.Lock()
					counts[got.Code()]++
					messages[got.Code()] = got.Message()
					mutex.Unlock()
				}
			})
		}
	}
	workers.Wait()
	summary := fmt.Sprintf("%d calls over %d connections:", calls, connections)
	unexpected := false
	for code := range codes.Code(17) {
		if counts[code] == 0 {
			continue
		}
		summary += fmt.Sprintf(" %d %s", counts[code], code)
		if code != codes.OK {
			summary += fmt.Sprintf(" (%s)", messages[code])
		}
		unexpected = unexpected || (code != codes.OK && code != codes.Unavailable && code != codes.ResourceExhausted)
	}
	if unexpected {
		return "", fmt.Errorf("every call must end as OK, UNAVAILABLE or RESOURCE_EXHAUSTED, but: %s", summary)
	}
	if counts[codes.OK] == 0 || counts[codes.OK] == calls {
		return "", fmt.Errorf("some calls must be answered and some refused, but: %s", summary)
	}
	return summary, nil
}
