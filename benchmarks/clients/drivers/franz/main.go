// franz-go: a producer that sends numbered records, and a consumer of a group.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const topic = "orders"

type seen struct {
	At     float64 `json:"t_s"`
	Kind   string  `json:"kind"`
	Record int     `json:"record"`
	Error  string  `json:"error"`
}

var writing sync.Mutex

func write(kind string, record int, err error) {
	line, _ := json.Marshal(seen{float64(time.Now().UnixMicro()) / 1e6, kind, record, name(err)})
	writing.Lock()
	defer writing.Unlock()
	fmt.Println(string(line))
}

func name(err error) string {
	var ofKafka *kerr.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &ofKafka):
		return ofKafka.Message
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
	}
}

func produce(client *kgo.Client, seconds, rate float64) {
	began := time.Now()
	for record := 0; time.Since(began).Seconds() < seconds; {
		if float64(record) >= time.Since(began).Seconds()*rate {
			time.Sleep(time.Millisecond)
			continue
		}
		number := record
		value := []byte(strconv.Itoa(number))
		client.Produce(context.Background(), &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				write("failed", number, err)
			} else {
				write("acked", number, nil)
			}
		})
		record++
	}
	limit, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client.Flush(limit)
}

func consume(client *kgo.Client, seconds float64) {
	limit, cancel := context.WithTimeout(context.Background(), time.Duration(seconds*float64(time.Second)))
	defer cancel()
	for limit.Err() == nil {
		fetches := client.PollFetches(limit)
		if limit.Err() == nil {
			fetches.EachError(func(_ string, _ int32, err error) { write("error", -1, err) })
		}
		fetches.EachRecord(func(record *kgo.Record) {
			number, _ := strconv.Atoi(string(record.Value))
			write("received", number, nil)
		})
	}
}

func main() {
	role, servers := os.Args[1], strings.Split(os.Args[2], ",")
	seconds, _ := strconv.ParseFloat(os.Args[3], 64)
	rate, _ := strconv.ParseFloat(os.Args[4], 64)
	options := []kgo.Opt{kgo.SeedBrokers(servers...)}
	if role == "produce" {
		options = append(options, kgo.ClientID("producer"), kgo.DefaultProduceTopic(topic), kgo.RequiredAcks(kgo.AllISRAcks()))
	} else {
		options = append(options, kgo.ClientID("consumer"), kgo.ConsumerGroup("readers"), kgo.ConsumeTopics(topic),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		write("error", -1, err)
		os.Exit(1)
	}
	defer client.Close()
	if role == "produce" {
		produce(client, seconds, rate)
	} else {
		consume(client, seconds)
	}
}
