package main

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	transferv1 "example.com/wallet/gen/offledger/transfer_instruction/v1"
)

type (
	request  = transferv1.GetTransferFactoryRequest
	response = transferv1.TransferFactoryWithChoiceContext
)

// attempts records how each attempt of a call ended: a retry policy hides all but the last.
type attempts struct {
	mutex sync.Mutex
	codes []codes.Code
}

func (a *attempts) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (a *attempts) HandleRPC(_ context.Context, event stats.RPCStats) {
	if end, ok := event.(*stats.End); ok {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.codes = append(a.codes, status.Code(end.Error))
	}
}

func (a *attempts) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (a *attempts) HandleConn(context.Context, stats.ConnStats)                       {}

func (a *attempts) ended() []codes.Code {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return append([]codes.Code(nil), a.codes...)
}
