// Command cache answers repeated calls itself, as docs/caching.md describes: it keeps responses, drops them when the
// stream of changes says so, and resumes the stream after a cut. cache.go has the rules.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"example.com/wallet/internal/report"
	"example.com/wallet/internal/transfer"
)

const callTimeout = 30 * time.Second

func main() {
	report.Check("cache", checkCache)
	report.Exit()
}

func checkCache() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	c := newCache(report.Env("OFFLEDGER_URL_CHANGING"))
	go c.follow(ctx, report.Env("REGISTRAR"))
	// Equal requests have equal times.
	message := transfer.Version2()
	expect := func(factoryID string, hits int) error {
		response, err := c.get(ctx, message)
		if err == nil && (response.GetFactoryId() != factoryID || c.hits != hits) {
			err = fmt.Errorf("must be factory %s with %d hits, but is %s with %d", factoryID, hits, response.GetFactoryId(), c.hits)
		}
		return err
	}
	first := report.Env("FACTORY_ID")
	if err := c.until(ctx, c.isLive); err != nil {
		return "", err
	}
	if err := errors.Join(expect(first, 0), expect(first, 1)); err != nil {
		return "", err
	}

	// Without the stream the service is asked. A stream that resumes without changes drops nothing.
	c.cut()
	if err := c.until(ctx, func() bool { return !c.isOpen }); err != nil {
		return "", err
	}
	if err := expect(first, 1); err != nil {
		return "", err
	}
	if err := c.until(ctx, func() bool { return c.streams > 1 && c.isLive() }); err != nil {
		return "", err
	}
	if err := expect(first, 2); err != nil {
		return "", err
	}

	// The ledger gets another factory.
	before := c.latest.GetOffset()
	second, err := replaceFactory(ctx)
	if err != nil {
		return "", err
	}
	if err := c.until(ctx, func() bool { return c.latest.GetOffset() > before }); err != nil {
		return "", err
	}
	if err := errors.Join(expect(second, 2), expect(second, 3)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d hits; not modified %d; %d streams; factory %.10s…, after a change %.10s…", c.hits, c.notModified, c.streams, first, second), nil
}

// until waits for a condition, which it checks with the mutex.
func (c *cache) until(ctx context.Context, holds func() bool) error {
	for {
		c.mutex.Lock()
		done := holds()
		c.mutex.Unlock()
		if done {
			return nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("after %s, with %d streams: %w", callTimeout, c.streams, ctx.Err())
		}
	}
}

// replaceFactory changes the ledger of the test. It returns the id of the new factory.
func replaceFactory(ctx context.Context) (string, error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, report.Env("OFFLEDGER_CHANGE_URL"), nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(ask)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	id, err := io.ReadAll(response.Body)
	return string(id), err
}
