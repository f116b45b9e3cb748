package barnabastest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Proxy is the proxy of one test. Whatever can't be done ends the test.
type Proxy struct {
	// BootstrapServer is HOST:PORT for the clients that are tested.
	BootstrapServer string
	// Cluster is what the proxy is in front of: for what is to pass no rule.
	Cluster string

	t      testing.TB
	server ready
	id     string
}

// Scenario is YAML, or the name of one that comes with barnabas; empty: no rules.
type Scenario string

// Exchange is a request and what came of it.
type Exchange struct {
	API        string         `json:"api"`
	Version    int            `json:"version"`
	ClientID   string         `json:"client_id"`
	Broker     *int           `json:"broker"`
	Connection int            `json:"connection"`
	LatencyMS  *float64       `json:"latency_ms"`
	Error      *string        `json:"error"`
	Rules      []string       `json:"rules"`
	Request    map[string]any `json:"request"`
	Response   map[string]any `json:"response"`
	Details    string         `json:"details"`
	Note       string         `json:"note"`
}

// Rule is what a rule has done.
type Rule struct {
	Name    string `json:"name"`
	Matched int    `json:"matched"`
	Fired   int    `json:"fired"`
}

// Finding is what a check finds wrong in what passed.
type Finding struct {
	Check    string `json:"check"`
	Severity string `json:"severity"`
	What     string `json:"what"`
	Advice   string `json:"advice"`
}

// Retries are how many requests may have been sent again, of an API, of clients whose id is as a glob says.
type Retries struct {
	API      string `json:"api,omitempty"`
	ClientID string `json:"client_id,omitempty"`
	AtLeast  int    `json:"at_least"`
	AtMost   int    `json:"at_most"`
}

// Start begins a test with a proxy of its own. When the test is over the proxy ends; of a test that failed
// the log has what its rules did, what checks find and where its capture is.
func Start(t testing.TB, scenario Scenario) *Proxy {
	t.Helper()
	found, err := server()
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Cluster: found.Bootstrap, t: t, server: found}
	body := map[string]any{"name": short(t.Name())}
	if scenario != "" {
		body["scenario"] = scenario
	}
	var began struct{ ID, Bootstrap string }
	p.must(p.ask("POST", "", body, &began))
	p.id, p.BootstrapServer = "/"+began.ID, began.Bootstrap
	t.Cleanup(p.end)
	return p
}

// Rule adds a rule (YAML), asked last.
func (p *Proxy) Rule(rule string) {
	p.t.Helper()
	p.must(p.ask("POST", "/rules", rule, nil))
}

// Rules are what all rules have done so far.
func (p *Proxy) Rules() []Rule {
	p.t.Helper()
	var found struct{ Rules []Rule }
	p.must(p.ask("GET", "/scenario", nil, &found))
	return found.Rules
}

// Fired is how often a rule did something so far.
func (p *Proxy) Fired(rule string) int {
	p.t.Helper()
	for _, each := range p.Rules() {
		if each.Name == rule {
			return each.Fired
		}
	}
	p.t.Fatalf("no rule is called %q: %v", rule, p.Rules())
	return 0
}

// Exchanges are those that have passed so far, of those that pass a filter, such as `api == 'Produce'`; empty: all.
func (p *Proxy) Exchanges(filter string) []Exchange {
	p.t.Helper()
	var found []Exchange
	query := url.Values{"filter": {filter}, "last": {"100000"}}
	p.must(p.ask("GET", "/exchanges?"+query.Encode(), nil, &found))
	return found
}

// WaitFor waits until so many exchanges that pass a filter have passed since the test began, and fails the
// test, with what did pass, if that takes too long.
func (p *Proxy) WaitFor(filter string, count int, timeout time.Duration) []Exchange {
	p.t.Helper()
	var found struct{ Exchanges []Exchange }
	body := map[string]any{"filter": filter, "count": count, "timeout_ms": timeout.Milliseconds()}
	p.must(p.ask("POST", "/wait_for", body, &found))
	return found.Exchanges
}

// AssertRetries fails the test unless as many requests were sent again as may be.
func (p *Proxy) AssertRetries(may Retries) {
	p.t.Helper()
	p.assert(map[string]any{"retries": may})
}

// AssertNoDuplicates fails the test if a broker has taken a batch of an idempotent producer twice.
func (p *Proxy) AssertNoDuplicates() {
	p.t.Helper()
	p.assert(map[string]any{"duplicate_sequences": 0})
}

// AssertFindings fails the test unless these checks find something, and no others.
func (p *Proxy) AssertFindings(checks ...string) {
	p.t.Helper()
	p.assert(map[string]any{"findings": append([]string{}, checks...)})
}

func (p *Proxy) assert(what map[string]any) {
	p.t.Helper()
	var said struct{ Broken []string }
	p.must(p.ask("POST", "/assert", what, &said))
	if len(said.Broken) > 0 {
		p.t.Error(strings.Join(said.Broken, "\n"))
	}
}

func (p *Proxy) end() {
	var found struct {
		Capture string
		Ended   struct {
			Rules    []Rule
			Findings []Finding
		}
	}
	if err := p.ask("DELETE", "", nil, &found); err != nil {
		p.t.Error(err)
		return
	}
	if p.t.Failed() {
		p.t.Logf("rules: %+v\nfindings: %+v\ncapture: %s", found.Ended.Rules, found.Ended.Findings, found.Capture)
	}
}

func (p *Proxy) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// ask sends a request about the test: text as it is, all else as JSON.
func (p *Proxy) ask(method, path string, body, into any) error {
	var sent []byte
	switch given := body.(type) {
	case nil:
	case string:
		sent = []byte(given)
	default:
		text, err := json.Marshal(given)
		if err != nil {
			return err
		}
		sent = text
	}
	request, err := http.NewRequest(method, "http://"+p.server.Control+"/v1/tests"+p.id+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.server.Token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= 400 {
		var refused struct{ Error string }
		if json.Unmarshal(said, &refused) != nil || refused.Error == "" {
			refused.Error = answer.Status
		}
		return fmt.Errorf("barnabas: %s", refused.Error)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(said, into)
}

// short is a name that is not longer than names of tests may be.
func short(name string) string {
	letters := []rune(name)
	return string(letters[:min(len(letters), 200)])
}
