package barnabastest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Proxy is the proxy of one test, or what one test sees of a shared proxy. Whatever can't be done ends the test.
type Proxy struct {
	// BootstrapServer is HOST:PORT for the clients that are tested.
	BootstrapServer string
	// Cluster is what the proxy is in front of: for what is to pass no rule.
	Cluster string

	t      testing.TB
	server ready
	id     string
	since  int // the number of exchanges before the test
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

// Retries are how many requests may have been sent again, of an API, of clients whose id is as a glob says.
type Retries struct {
	API      string `json:"api,omitempty"`
	ClientID string `json:"client_id,omitempty"`
	AtLeast  int    `json:"at_least"`
	AtMost   int    `json:"at_most"`
}

// Start begins a test with a proxy of its own, which ends with the test. If the test fails, the log has the last
// exchanges, what the rules did, what checks find, and the path of the capture: see Reports.
func Start(t testing.TB, scenario Scenario) *Proxy {
	t.Helper()
	p, err := begin(t.Name(), scenario)
	if err != nil {
		t.Fatal(err)
	}
	p.t = t
	t.Cleanup(p.end)
	return &p
}

// Shared returns a function like Start for tests that share one proxy: it begins with the first of them and ends
// with the process. Each test sees the exchanges since its own beginning.
func Shared(scenario Scenario) func(t testing.TB) *Proxy {
	started := sync.OnceValues(func() (Proxy, error) { return begin("shared", scenario) })
	return func(t testing.TB) *Proxy {
		t.Helper()
		p, err := started()
		if err != nil {
			t.Fatal(err)
		}
		p.t = t
		var now struct{ Exchanges int }
		p.must(p.ask("GET", "", nil, &now))
		p.since = now.Exchanges
		t.Cleanup(p.fail)
		return &p
	}
}

func begin(name string, scenario Scenario) (Proxy, error) {
	ready, err := server()
	if err != nil {
		return Proxy{}, err
	}
	p := Proxy{Cluster: ready.Bootstrap, server: ready}
	body := map[string]any{"name": short(name)}
	if scenario != "" {
		body["scenario"] = scenario
	}
	var began struct{ ID, Bootstrap string }
	if err := p.ask("POST", "", body, &began); err != nil {
		return Proxy{}, err
	}
	p.id, p.BootstrapServer = "/"+began.ID, began.Bootstrap
	return p, nil
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
	query := url.Values{"filter": {filter}, "last": {"100000"}, "since": {strconv.Itoa(p.since)}}
	p.must(p.ask("GET", "/exchanges?"+query.Encode(), nil, &found))
	return found
}

// WaitFor waits until so many exchanges that pass a filter have passed since the test began, and fails the
// test, with what did pass, if that takes too long.
func (p *Proxy) WaitFor(filter string, count int, timeout time.Duration) []Exchange {
	p.t.Helper()
	var found struct{ Exchanges []Exchange }
	body := map[string]any{"filter": filter, "count": count, "since": p.since, "timeout_ms": timeout.Milliseconds()}
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
	what["since"] = p.since
	var said struct{ Broken []string }
	p.must(p.ask("POST", "/assert", what, &said))
	if len(said.Broken) > 0 {
		p.t.Error(strings.Join(said.Broken, "\n"))
	}
}

func (p *Proxy) end() {
	if err := p.ask("DELETE", "", nil, nil); err != nil {
		p.t.Error(err)
		return
	}
	p.fail()
}

// fail logs what passed, and keeps the capture, if the test has failed.
func (p *Proxy) fail() {
	if !p.t.Failed() {
		return
	}
	report, err := p.send("GET", "/report?since="+strconv.Itoa(p.since), nil)
	if err != nil {
		p.t.Error(err)
		return
	}
	file, err := p.keep()
	if err != nil {
		file = err.Error()
	}
	p.t.Logf("%scapture: %s", report, file)
}

// keep writes the capture to a file that stays.
func (p *Proxy) keep() (string, error) {
	capture, err := p.send("GET", "/capture", nil)
	if err != nil {
		return "", err
	}
	folder, err := reports(p.t)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s-%s.pcapng", separators.ReplaceAllString(short(p.t.Name()), "_"), p.id[1:])
	file := filepath.Join(folder, name)
	return file, os.WriteFile(file, capture, 0o600)
}

// separators are characters that the names of captures do not have.
var separators = regexp.MustCompile(`\W+`)

// Reports is the folder for captures of failed tests, which is made if need be. Empty: BARNABAS_REPORTS in the
// environment, else the folder of `go test -artifacts`, else a new folder among the system's temporary files.
var Reports string

func reports(t testing.TB) (string, error) {
	folder := Reports
	if folder == "" {
		folder = os.Getenv("BARNABAS_REPORTS")
	}
	if folder == "" {
		artifacts := flag.Lookup("test.artifacts")
		of, is := t.(interface{ ArtifactDir() string })
		if is && artifacts != nil && artifacts.Value.String() == "true" {
			return of.ArtifactDir(), nil
		}
		return os.MkdirTemp("", "barnabas-")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return folder, os.MkdirAll(folder, 0o755)
}

func (p *Proxy) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// ask sends a request about the test and reads the JSON of its response.
func (p *Proxy) ask(method, path string, body, into any) error {
	said, err := p.send(method, path, body)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(said, into)
}

// send sends a request about the test: text as it is, all else as JSON.
func (p *Proxy) send(method, path string, body any) ([]byte, error) {
	var sent []byte
	switch given := body.(type) {
	case nil:
	case string:
		sent = []byte(given)
	default:
		text, err := json.Marshal(given)
		if err != nil {
			return nil, err
		}
		sent = text
	}
	request, err := http.NewRequest(method, "http://"+p.server.Control+"/v1/tests"+p.id+path, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+p.server.Token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 400 {
		var refused struct{ Error string }
		if json.Unmarshal(said, &refused) != nil || refused.Error == "" {
			refused.Error = answer.Status
		}
		return nil, fmt.Errorf("barnabas: %s", refused.Error)
	}
	return said, nil
}

// short is a name that is not longer than names of tests may be.
func short(name string) string {
	letters := []rune(name)
	return string(letters[:min(len(letters), 200)])
}
