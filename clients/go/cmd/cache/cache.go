package main

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	transferv1 "example.com/wallet/gen/offledger/transfer_instruction/v1"
	connectv2 "example.com/wallet/gen/offledger/transfer_instruction/v2/transfer_instructionv2connect"
	watchv1 "example.com/wallet/gen/offledger/watch/v1"
	"example.com/wallet/gen/offledger/watch/v1/watchv1connect"
)

const (
	maxResponses = 10_000
	maxEvents    = 1_000
	maxSilence   = 25 * time.Second
	retryDelay   = 500 * time.Millisecond
)

type (
	request = transferv1.GetTransferFactoryRequest
	factory = transferv1.TransferFactoryWithChoiceContext
)

// A kept response. It stays when it is dropped: the service is then asked whether it still holds.
type kept struct {
	message    *factory
	etag       string
	offset     int64
	tags       map[string]bool
	validUntil time.Time // zero if time does not change the response
	dropped    bool
}

// A cache has the responses of the transfer factory by request, and the latest events of one stream.
type cache struct {
	transfers connectv2.TransferInstructionServiceClient
	changes   watchv1connect.WatchServiceClient

	mutex             sync.Mutex
	responses         map[string]*kept
	events            []*watchv1.WatchResponse // the remembered `changed` events
	completeFrom      int64                    // events with a higher offset are all remembered
	latest            *watchv1.WatchResponse   // nil before the first
	latestAt          time.Time
	isOpen            bool
	streams           int
	cut               context.CancelFunc // ends the stream, for a test
	hits, notModified int
}

func newCache(url string) *cache {
	return &cache{
		transfers: connectv2.NewTransferInstructionServiceClient(http.DefaultClient, url),
		changes:   watchv1connect.NewWatchServiceClient(http.DefaultClient, url),
		responses: map[string]*kept{},
	}
}

// get answers from the cache (rules 4 and 5), or asks the service.
func (c *cache) get(ctx context.Context, message *request) (*factory, error) {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return nil, err
	}
	key := string(bytes)
	ask := connect.NewRequest(message)
	c.mutex.Lock()
	before := c.responses[key]
	if before != nil && !before.dropped && c.isLive() && (before.validUntil.IsZero() || time.Now().Before(before.validUntil)) {
		c.hits++
		c.mutex.Unlock()
		return before.message, nil
	}
	c.mutex.Unlock()
	etag := `""` // asks for the validators, without a response
	if before != nil {
		etag = before.etag
	}
	ask.Header().Set("Offledger-If-None-Match", etag)
	response, err := c.transfers.GetTransferFactory(ctx, ask)
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	answer := response.Msg
	if before != nil && response.Header().Get("Offledger-Not-Modified") == "true" {
		c.notModified++
		answer = before.message
	}
	c.keep(key, answer, response.Header())
	return answer, nil
}

func (c *cache) isLive() bool { return c.isOpen && time.Since(c.latestAt) <= maxSilence }

// keep is rules 1 and 2. This program reads no summaries of tags, which begin with "~".
func (c *cache) keep(key string, message *factory, header http.Header) {
	tags := header.Values("Offledger-Tags")
	offset, err := strconv.ParseInt(header.Get("Offledger-Offset"), 10, 64)
	if err != nil || len(tags) != 1 || strings.HasPrefix(tags[0], "~") {
		return
	}
	if !c.isLive() || header.Get("Offledger-Generation") != c.latest.GetGeneration() || offset < c.completeFrom {
		return
	}
	entry := &kept{message: message, etag: header.Get("ETag"), offset: offset, tags: map[string]bool{}}
	for _, tag := range strings.Split(tags[0], ",") {
		entry.tags[tag] = true
	}
	for _, event := range c.events {
		if event.GetOffset() > offset && entry.hasTagOf(event) {
			return
		}
	}
	// Correct clocks are assumed: a program without counts from the header Date.
	if text := header.Get("Offledger-Valid-Until"); text != "" {
		if entry.validUntil, err = time.Parse(time.RFC3339, text); err != nil {
			return
		}
	}
	if len(c.responses) >= maxResponses {
		clear(c.responses)
	}
	c.responses[key] = entry
}

func (k *kept) hasTagOf(event *watchv1.WatchResponse) bool {
	for _, tag := range event.GetChanged().GetTags() {
		if k.tags[tag] {
			return true
		}
	}
	return false
}

// follow reads one stream after the other until the context ends. Each resumes where the one before has ended.
func (c *cache) follow(ctx context.Context, registrar string) {
	for ctx.Err() == nil {
		c.readStream(ctx, registrar)
		c.mutex.Lock()
		c.isOpen = false
		c.mutex.Unlock()
		select {
		case <-time.After(retryDelay):
		case <-ctx.Done():
		}
	}
}

func (c *cache) readStream(ctx context.Context, registrar string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(maxSilence, cancel)
	defer silence.Stop()
	c.mutex.Lock()
	c.streams++
	c.cut = cancel
	ask := &watchv1.WatchRequest{Registrars: []string{registrar}, ResumeToken: c.latest.GetResumeToken()}
	c.mutex.Unlock()
	stream, err := c.changes.Watch(ctx, connect.NewRequest(ask))
	if err != nil {
		return
	}
	defer stream.Close()
	for stream.Receive() {
		silence.Reset(maxSilence)
		c.handle(stream.Msg())
	}
}

// handle is rule 3.
func (c *cache) handle(event *watchv1.WatchResponse) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	isReset := event.GetReset_() != nil || event.GetGeneration() != c.latest.GetGeneration()
	if isReset {
		c.events, c.completeFrom = nil, event.GetOffset()
	} else if event.GetChanged() != nil {
		c.events = append(c.events, event)
	}
	if len(c.events) > maxEvents {
		c.completeFrom, c.events = c.events[0].GetOffset(), c.events[1:]
	}
	for _, entry := range c.responses {
		if isReset || entry.offset < event.GetOffset() && entry.hasTagOf(event) {
			entry.dropped = true
		}
	}
	c.latest, c.latestAt, c.isOpen = event, time.Now(), true
}
