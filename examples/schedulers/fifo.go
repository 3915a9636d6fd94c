// First in, first out, in Go without any library. Run it with `go run fifo.go`.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

type turn struct {
	Turn  int
	Code  string // of an error
	Queue []struct {
		Name      string
		Executors struct{ Preferred, Min int }
	}
	Slots []struct {
		ID    int
		State string
	}
}

type decision struct {
	Job    string `json:"job"`
	Slots  []int  `json:"slots"`
	Reason string `json:"reason"`
}

type request struct {
	Testbed   string     `json:"testbed"`
	After     *int       `json:"after,omitempty"` // which turn the decisions are about; none: we begin
	Decisions []decision `json:"decisions,omitempty"`
}

func main() {
	begin := request{Testbed: env("BERTH_TESTBED", "main")}
	next := begin
	for {
		turn, status := ask(next)
		switch {
		case status == http.StatusOK:
			next = request{Testbed: begin.Testbed, After: &turn.Turn, Decisions: decide(turn)}
			continue
		case strings.HasPrefix(turn.Code, "BERTH_TURN_"):
			next = begin // the gateway does not remember us
		case status >= 400 && status < 500:
			fmt.Fprintln(os.Stderr, turn.Code)
			os.Exit(1)
		}
		time.Sleep(time.Second) // and ask again: decisions are carried out once, however often they are sent
	}
}

// Jobs get slots in the order of submission until there are too few.
func decide(turn turn) (decisions []decision) {
	var free []int
	for _, slot := range turn.Slots {
		if slot.State == "free" {
			free = append(free, slot.ID)
		}
	}
	for _, job := range turn.Queue {
		count := cmp.Or(job.Executors.Preferred, job.Executors.Min, 1)
		if count > len(free) {
			break
		}
		decisions = append(decisions, decision{job.Name, free[:count], "first in the queue"})
		free = free[count:]
	}
	return decisions
}

var client = http.Client{Timeout: time.Minute}

// Sends the decisions about the last turn; answers with the next one as soon as there is something to decide.
// The status is 0 if the gateway was not reached, or did not answer to the end.
func ask(request request) (turn turn, status int) {
	body, _ := json.Marshal(request)
	url := env("BERTH_URL", "http://127.0.0.1:8080") + "/v1/schedulers/fifo/turn"
	call, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	call.Header.Set("Content-Type", "application/json")
	call.Header.Set("Authorization", "Bearer "+os.Getenv("BERTH_TOKEN"))
	response, err := client.Do(call)
	if err != nil {
		return turn, 0
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&turn); err != nil {
		return turn, 0
	}
	return turn, response.StatusCode
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
