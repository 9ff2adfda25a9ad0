// The driver of franz-go: go build -o PROGRAM in this folder.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	commitEvery = 300 * time.Millisecond
	longestEnd  = 300 * time.Second // the campaign itself was ended, and has not ended this process
	module      = "github.com/twmb/franz-go"
)

type plan struct {
	Role       string         `json:"role"`
	Name       string         `json:"name"`
	Topic      string         `json:"topic"`
	Partitions int            `json:"partitions"`
	Rate       float64        `json:"rate"`
	Records    int            `json:"records"`
	Aborted    int            `json:"aborted"`
	Settings   map[string]any `json:"settings"`
}

type more map[string]any

var writing sync.Mutex

func say(seen string, keys more) {
	line := more{"seen": seen}
	for key, value := range keys {
		line[key] = value
	}
	text, _ := json.Marshal(line)
	writing.Lock()
	defer writing.Unlock()
	fmt.Println(string(text))
}

func name(err error) string {
	var ofKafka *kerr.Error
	switch {
	case errors.As(err, &ofKafka):
		return ofKafka.Message
	case errors.Is(err, context.DeadlineExceeded):
		return "DeadlineExceeded"
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
	}
}

func sayError(err error) { say("error", more{"error": name(err)}) }

// The version of the client that this program was built with.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, one := range info.Deps {
		if one.Path == module {
			return one.Version
		}
	}
	return ""
}

func (p *plan) text(key string) string {
	text, _ := p.Settings[key].(string)
	return text
}

func (p *plan) ms(key string) (time.Duration, bool) {
	number, found := p.Settings[key].(float64)
	return time.Duration(number) * time.Millisecond, found
}

func (p *plan) options() []kgo.Opt {
	found := []kgo.Opt{kgo.SeedBrokers(strings.Split(p.text("bootstrap.servers"), ",")...), kgo.ClientID(p.Name)}
	if patience, asked := p.ms("request.timeout.ms"); asked {
		found = append(found, kgo.RequestTimeoutOverhead(patience), kgo.ProduceRequestTimeout(patience))
	}
	return found
}

func (p *plan) producing() []kgo.Opt {
	found := append(p.options(), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	switch acks := p.Settings["acks"]; acks {
	case "all":
		found = append(found, kgo.RequiredAcks(kgo.AllISRAcks()))
	case 1.0:
		found = append(found, kgo.RequiredAcks(kgo.LeaderAck()))
	default:
		found = append(found, kgo.RequiredAcks(kgo.NoAck()))
	}
	if idempotent, _ := p.Settings["enable.idempotence"].(bool); !idempotent {
		found = append(found, kgo.DisableIdempotentWrite())
	}
	if most, asked := p.Settings["max.in.flight.requests.per.connection"].(float64); asked {
		found = append(found, kgo.MaxProduceRequestsInflightPerBroker(int(most)))
	}
	return found
}

func (p *plan) send(client *kgo.Client, number int, keys more) {
	record := fmt.Sprintf("%s-%d", p.Name, number)
	partition := number % p.Partitions
	which := more{"record": record, "partition": partition}
	sent := more{"record": record, "partition": partition}
	for key, value := range keys {
		sent[key] = value
	}
	say("sent", sent)
	one := &kgo.Record{Topic: p.Topic, Partition: int32(partition), Value: []byte(record)}
	client.Produce(context.Background(), one, func(written *kgo.Record, err error) {
		if err != nil {
			say("failed", more{"record": record, "partition": partition, "error": name(err)})
			return
		}
		which["offset"] = written.Offset
		if p.Settings["acks"] == 0.0 {
			which["offset"] = -1
		}
		say("acked", which)
	})
}

// The number of records that are due.
func (p *plan) due(began time.Time) int { return int(time.Since(began).Seconds() * p.Rate) }

func (p *plan) produce(ended context.Context) error {
	client, err := kgo.NewClient(p.producing()...)
	if err != nil {
		return err
	}
	defer client.Close()
	began := time.Now()
	for count := 0; ended.Err() == nil; time.Sleep(2 * time.Millisecond) {
		for ; count < p.due(began); count++ {
			p.send(client, count, nil)
		}
	}
	return client.Flush(context.Background())
}

func (p *plan) transact(ended context.Context) error {
	timeout, _ := p.ms("transaction.timeout.ms")
	options := append(p.producing(), kgo.TransactionalID(p.text("transactional.id")), kgo.TransactionTimeout(timeout))
	client, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	began := time.Now()
	for number, count := 1, 0; ended.Err() == nil; time.Sleep(2 * time.Millisecond) {
		for ; count+p.Records <= p.due(began) && ended.Err() == nil; number, count = number+1, count+p.Records {
			if err := p.carryOut(client, number, count); err != nil {
				say("unknown", more{"transaction": number, "error": name(err)})
				client.Close()
				if client, err = kgo.NewClient(options...); err != nil {
					return err
				}
			}
		}
	}
	client.Close()
	return nil
}

// Carries out one transaction. An error: its outcome is unknown, and the client of no more use.
func (p *plan) carryOut(client *kgo.Client, number, first int) error {
	forever := context.Background()
	which := more{"transaction": number}
	if err := client.BeginTransaction(); err != nil {
		return err
	}
	say("begun", which)
	for each := first; each < first+p.Records; each++ {
		p.send(client, each, which)
	}
	if err := client.Flush(forever); err != nil {
		return err
	}
	if number%p.Aborted != 0 {
		err := client.EndTransaction(forever, kgo.TryCommit)
		if err == nil {
			say("committed", which)
			return nil
		}
		sayError(err)
	}
	if err := client.EndTransaction(forever, kgo.TryAbort); err != nil {
		return err
	}
	say("aborted", which)
	return nil
}

// What a consumer has read and not committed: the next offset of each partition.
type read struct {
	sync.Mutex
	next map[int32]kgo.EpochOffset
}

func (r *read) clear() {
	r.Lock()
	defer r.Unlock()
	r.next = map[int32]kgo.EpochOffset{}
}

func numbers(of map[string][]int32, topic string) []int32 {
	found := append([]int32{}, of[topic]...)
	sort.Slice(found, func(a, b int) bool { return found[a] < found[b] })
	return found
}

func (p *plan) consume(ended context.Context) error {
	found := &read{next: map[int32]kgo.EpochOffset{}}
	told := func(seen string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, of map[string][]int32) {
			found.clear()
			say(seen, more{"partitions": numbers(of, p.Topic)})
		}
	}
	session, _ := p.ms("session.timeout.ms")
	heartbeat, _ := p.ms("heartbeat.interval.ms")
	isolation := kgo.ReadUncommitted()
	if p.text("isolation.level") == "read_committed" {
		isolation = kgo.ReadCommitted()
	}
	client, err := kgo.NewClient(append(p.options(), kgo.ConsumerGroup(p.text("group.id")), kgo.ConsumeTopics(p.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(isolation), kgo.DisableAutoCommit(),
		kgo.SessionTimeout(session), kgo.HeartbeatInterval(heartbeat), kgo.RebalanceTimeout(session),
		kgo.OnPartitionsAssigned(told("assigned")), kgo.OnPartitionsRevoked(told("revoked")),
		kgo.OnPartitionsLost(told("revoked")))...)
	if err != nil {
		return err
	}
	for due := time.Now().Add(commitEvery); ended.Err() == nil; {
		limit, cancel := context.WithTimeout(ended, 100*time.Millisecond)
		fetches := client.PollFetches(limit)
		cancel()
		fetches.EachError(func(_ string, _ int32, err error) {
			if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
				sayError(err)
			}
		})
		fetches.EachRecord(func(one *kgo.Record) {
			say("received", more{"record": string(one.Value), "partition": one.Partition, "offset": one.Offset})
			found.Lock()
			found.next[one.Partition] = kgo.EpochOffset{Epoch: one.LeaderEpoch, Offset: one.Offset + 1}
			found.Unlock()
		})
		if time.Now().After(due) {
			p.commit(client, found)
			due = time.Now().Add(commitEvery)
		}
	}
	p.commit(client, found)
	client.Close()
	return nil
}

func (p *plan) commit(client *kgo.Client, found *read) {
	found.Lock()
	offsets := found.next
	found.Unlock()
	if len(offsets) == 0 {
		return
	}
	found.clear()
	client.CommitOffsetsSync(context.Background(), map[string]map[int32]kgo.EpochOffset{p.Topic: offsets},
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, err error) {
			if err != nil {
				say("error", more{"error": "commit " + name(err)})
				return
			}
			for _, topic := range answer.Topics {
				for _, one := range topic.Partitions {
					if err := kerr.ErrorForCode(one.ErrorCode); err != nil {
						say("error", more{"error": "commit " + name(err)})
					} else {
						say("committed", more{"partition": one.Partition, "offset": offsets[one.Partition].Offset})
					}
				}
			}
		})
}

func main() {
	say("ready", more{"client": "franz-go", "version": version()})
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadString('\n')
	var asked plan
	if err == nil {
		err = json.Unmarshal([]byte(line), &asked)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ended, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, input)
		end()
		time.Sleep(longestEnd)
		os.Exit(1)
	}()
	roles := map[string]func(context.Context) error{"produce": asked.produce, "transact": asked.transact, "consume": asked.consume}
	if err := roles[asked.Role](ended); err != nil {
		fmt.Fprintln(os.Stderr, name(err)+":", err)
		os.Exit(1)
	}
}
