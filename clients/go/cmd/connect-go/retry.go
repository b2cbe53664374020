package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"connectrpc.com/connect"
)

const maxAttempts = 20

// retryUnavailable repeats a call that was refused as unavailable, after the time that the service names in Retry-After.
// connect-go has no retries of its own. `ended` learns how each attempt ended.
func retryUnavailable(ended func(error)) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			for attempt := 1; ; attempt++ {
				response, err := next(ctx, request)
				ended(err)
				if connect.CodeOf(err) != connect.CodeUnavailable || attempt == maxAttempts {
					return response, err
				}
				select {
				case <-time.After(retryAfter(err)):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
		}
	}
}

func retryAfter(err error) time.Duration {
	var connectError *connect.Error
	if errors.As(err, &connectError) {
		if seconds, err := strconv.Atoi(connectError.Meta().Get("Retry-After")); err == nil && seconds > 0 {
			return time.Duration(seconds) * time.Second
		}
	}
	return time.Second
}
