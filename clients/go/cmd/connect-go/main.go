// Command connect-go calls offledger with connectrpc.com/connect: by the Connect protocol, as JSON or binary, over
// HTTP/1.1 or HTTP/2. connect.WithGRPC() as an option of the client makes it speak gRPC.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	transferv1 "example.com/wallet/gen/offledger/transfer_instruction/v1"
	connectv2 "example.com/wallet/gen/offledger/transfer_instruction/v2/transfer_instructionv2connect"
	"example.com/wallet/internal/report"
	"example.com/wallet/internal/transfer"
)

type (
	request  = transferv1.GetTransferFactoryRequest
	response = connect.Response[transferv1.TransferFactoryWithChoiceContext]
)

const callTimeout = 30 * time.Second

func main() {
	report.Check("retry", retry)
	report.Check("typed transfer-factory, version 2", func() (string, error) {
		return read(call("OFFLEDGER_URL", transfer.Version2(), callTimeout))
	})
	report.Check("typed transfer-factory, version 1", func() (string, error) {
		return read(call("OFFLEDGER_URL", transfer.Version1(), callTimeout))
	})
	report.Check("typed transfer-factory by gRPC-Web", func() (string, error) {
		return read(call("OFFLEDGER_URL", transfer.Version2(), callTimeout, connect.WithGRPCWeb()))
	})
	report.Check("invalid argument", invalidArgument)
	report.Check("token missing", func() (string, error) {
		_, err := call("OFFLEDGER_URL_TOKENS", transfer.Version2(), callTimeout)
		return refused(err, connect.CodeUnauthenticated, "")
	})
	report.Check("token", func() (string, error) {
		return read(call("OFFLEDGER_URL_TOKENS", transfer.Version2(), callTimeout, connect.WithInterceptors(withToken())))
	})
	report.Check("deadline", func() (string, error) {
		_, err := call("OFFLEDGER_URL_SLOW", transfer.Version2(), 300*time.Millisecond)
		return refused(err, connect.CodeDeadlineExceeded, "context deadline exceeded")
	})
	report.Exit()
}

func call(variable string, request *request, limit time.Duration, options ...connect.ClientOption) (*response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	client := connectv2.NewTransferInstructionServiceClient(http.DefaultClient, report.Env(variable), options...)
	return client.GetTransferFactory(ctx, connect.NewRequest(request))
}

func read(response *response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return transfer.Read(response.Msg)
}

func withToken() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			request.Header().Set("Authorization", "Bearer "+report.Env("OFFLEDGER_TOKEN"))
			return next(ctx, request)
		}
	}
}

func retry() (string, error) {
	var ended []string
	retries := connect.WithInterceptors(retryUnavailable(func(err error) {
		if err == nil {
			ended = append(ended, "ok")
		} else {
			ended = append(ended, connect.CodeOf(err).String())
		}
	}))
	response, err := call("OFFLEDGER_URL_STARTING", transfer.Version2(), 2*callTimeout, retries)
	if err != nil {
		return "", fmt.Errorf("%w, after attempts that ended with %v", err, ended)
	}
	if len(ended) < 2 || ended[0] != "unavailable" {
		return "", fmt.Errorf("the first attempt must be unavailable, but the attempts ended with %v", ended)
	}
	if _, err := transfer.Read(response.Msg); err != nil {
		return "", err
	}
	return fmt.Sprintf("attempts ended with %v", ended), nil
}

func invalidArgument() (string, error) {
	_, err := call("OFFLEDGER_URL", transfer.WithoutReceiver(), callTimeout)
	detail, mismatch := refused(err, connect.CodeInvalidArgument, "receiver")
	if mismatch != nil || os.Getenv("OFFLEDGER_EXPECT_DETAILS") != "1" {
		return detail, mismatch
	}
	var connectError *connect.Error
	if !errors.As(err, &connectError) {
		return "", err
	}
	var fields []string
	for _, one := range connectError.Details() {
		value, err := one.Value()
		if err != nil {
			return "", err
		}
		if badRequest, ok := value.(*errdetails.BadRequest); ok {
			for _, violation := range badRequest.GetFieldViolations() {
				fields = append(fields, violation.GetField())
			}
		}
	}
	if len(fields) == 0 {
		return "", fmt.Errorf("the details must name fields in google.rpc.BadRequest, but there are %d other details", len(connectError.Details()))
	}
	return fmt.Sprintf("%s; fields %v", detail, fields), nil
}

// refused checks the code of an error, and that the service says why.
func refused(err error, code connect.Code, message string) (string, error) {
	if err == nil || connect.CodeOf(err) != code || !strings.Contains(err.Error(), message) {
		return "", fmt.Errorf("must be %s with %q, but is %v", code, message, err)
	}
	return err.Error(), nil
}
