// Command grpc-go calls offledger with google.golang.org/grpc.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	transferv2 "example.com/wallet/gen/offledger/transfer_instruction/v2"
	"example.com/wallet/internal/report"
	"example.com/wallet/internal/transfer"
)

// Retries refusals of a service that has read no contracts yet. A service that is overloaded refuses in the same way.
const retryPolicy = `{"methodConfig": [{
  "name": [{"service": "offledger.transfer_instruction.v2.TransferInstructionService"}],
  "retryPolicy": {
    "maxAttempts": 5, "initialBackoff": "2s", "maxBackoff": "8s", "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"]
  }
}]}`

const callTimeout = 30 * time.Second

func main() {
	report.Check("retry", retry)
	report.Check("typed transfer-factory, version 2", func() (string, error) {
		return read(call("OFFLEDGER_URL", transfer.Version2(), callTimeout))
	})
	report.Check("typed transfer-factory, version 1", func() (string, error) {
		return read(call("OFFLEDGER_URL", transfer.Version1(), callTimeout))
	})
	report.Check("invalid argument", invalidArgument)
	report.Check("token missing", func() (string, error) {
		_, err := call("OFFLEDGER_URL_TOKENS", transfer.Version2(), callTimeout)
		return refused(err, codes.Unauthenticated, "")
	})
	report.Check("token", func() (string, error) {
		return read(call("OFFLEDGER_URL_TOKENS", transfer.Version2(), callTimeout, "authorization", "Bearer "+report.Env("OFFLEDGER_TOKEN")))
	})
	report.Check("deadline", func() (string, error) {
		_, err := call("OFFLEDGER_URL_SLOW", transfer.Version2(), 300*time.Millisecond)
		return refused(err, codes.DeadlineExceeded, "")
	})
	report.Exit()
}

// open connects to a service. gRPC over plain HTTP needs the option for insecure credentials.
func open(variable string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	return grpc.NewClient("passthrough:///"+strings.TrimPrefix(report.Env(variable), "http://"), options...)
}

// call makes one call with a deadline and metadata, given as names and values.
func call(variable string, request *request, limit time.Duration, pairs ...string) (*response, error) {
	connection, err := open(variable)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, pairs...)
	return transferv2.NewTransferInstructionServiceClient(connection).GetTransferFactory(ctx, request)
}

func read(response *response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return transfer.Read(response)
}

func retry() (string, error) {
	attempts := &attempts{}
	connection, err := open("OFFLEDGER_URL_STARTING", grpc.WithDefaultServiceConfig(retryPolicy), grpc.WithStatsHandler(attempts))
	if err != nil {
		return "", err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*callTimeout)
	defer cancel()
	response, err := transferv2.NewTransferInstructionServiceClient(connection).GetTransferFactory(ctx, transfer.Version2())
	if err != nil {
		return "", fmt.Errorf("%w, after attempts that ended with %v", err, attempts.ended())
	}
	ended := attempts.ended()
	if len(ended) < 2 || ended[0] != codes.Unavailable {
		return "", fmt.Errorf("the first attempt must be UNAVAILABLE, but the attempts ended with %v", ended)
	}
	if _, err := transfer.Read(response); err != nil {
		return "", err
	}
	return fmt.Sprintf("attempts ended with %v", ended), nil
}

func invalidArgument() (string, error) {
	_, err := call("OFFLEDGER_URL", transfer.WithoutReceiver(), callTimeout)
	detail, mismatch := refused(err, codes.InvalidArgument, "receiver")
	if mismatch != nil || os.Getenv("OFFLEDGER_EXPECT_DETAILS") != "1" {
		return detail, mismatch
	}
	var fields []string
	for _, one := range status.Convert(err).Details() {
		if badRequest, ok := one.(*errdetails.BadRequest); ok {
			for _, violation := range badRequest.GetFieldViolations() {
				fields = append(fields, violation.GetField())
			}
		}
	}
	if len(fields) == 0 {
		return "", fmt.Errorf("the details must name fields in google.rpc.BadRequest, but are %v", status.Convert(err).Details())
	}
	return fmt.Sprintf("%s; fields %v", detail, fields), nil
}

// refused checks the code of an error, and that the service says why.
func refused(err error, code codes.Code, message string) (string, error) {
	got := status.Convert(err)
	if got.Code() != code || got.Message() == "" || !strings.Contains(got.Message(), message) {
		return "", fmt.Errorf("must be %s with %q, but is %s: %s", code, message, got.Code(), got.Message())
	}
	return fmt.Sprintf("%s: %s", got.Code(), got.Message()), nil
}
