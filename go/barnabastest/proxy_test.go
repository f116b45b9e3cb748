package barnabastest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"barnabas.example/barnabas.git/go/barnabastest"
)

const moved = `
version: 1
rules:
  - name: the leader has moved
    match: {api: Produce, direction: request}
    when: {times: 1, scope: rule}
    do: {respond: {error: NOT_LEADER_OR_FOLLOWER}}
`

// send is what is tested: a record, acknowledged.
func send(t *testing.T, bootstrap, topic string) {
	t.Helper()
	writer := &kafka.Writer{
		Addr:                   kafka.TCP(bootstrap),
		Topic:                  topic,
		RequiredAcks:           kafka.RequireAll,
		BatchTimeout:           time.Millisecond,
		AllowAutoTopicCreation: true,
	}
	defer writer.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := writer.WriteMessages(ctx, kafka.Message{Value: []byte("tea")}); err != nil {
		t.Fatal(err)
	}
}

func TestARecordIsSentAgainWhenTheLeaderHasMoved(t *testing.T) {
	proxy := barnabastest.Start(t, moved)
	send(t, proxy.BootstrapServer, "go-moved")
	produced := proxy.WaitFor("api == 'Produce'", 2, 10*time.Second)
	errors := []string{*produced[0].Error, *produced[1].Error}
	if fmt.Sprint(errors) != "[NOT_LEADER_OR_FOLLOWER ]" {
		t.Errorf("answers: %q", errors)
	}
	if fired := proxy.Fired("the leader has moved"); fired != 1 {
		t.Errorf("fired %d times", fired)
	}
	// kafka-go gives the record another timestamp
	proxy.AssertRetries(barnabastest.Retries{API: "Produce", AtLeast: 1, AtMost: 1})
	proxy.AssertNoDuplicates()
	proxy.AssertFindings()
}

func TestRulesAreAddedInMidTest(t *testing.T) {
	proxy := barnabastest.Start(t, "")
	send(t, proxy.BootstrapServer, "go-added")
	proxy.Rule("{name: slow, match: {api: Produce, direction: response}, do: {delay: 100ms}}")
	send(t, proxy.BootstrapServer, "go-added")
	produced := proxy.Exchanges("api == 'Produce'")
	if len(produced) != 2 || *produced[1].LatencyMS < 100 || len(produced[0].Rules) != 0 {
		t.Errorf("produced: %+v", produced)
	}
}

// broken is a test that fails where this one wants it to.
type broken struct {
	testing.TB
	said     []string
	cleanups []func()
}

func (b *broken) Helper()            {}
func (b *broken) Failed() bool       { return len(b.said) > 0 }
func (b *broken) Cleanup(end func()) { b.cleanups = append(b.cleanups, end) }
func (b *broken) Error(said ...any)  { b.said = append(b.said, fmt.Sprint(said...)) }
func (b *broken) Fatal(said ...any)  { b.Error(said...); panic(b) }
func (b *broken) Logf(format string, values ...any) {
	b.said = append(b.said, fmt.Sprintf(format, values...))
}

func (b *broken) run(test func()) {
	defer func() {
		if problem := recover(); problem != nil && problem != any(b) {
			panic(problem)
		}
		for _, end := range b.cleanups {
			end()
		}
	}()
	test()
}

func TestWhatIsWrongFailsTheTestAndSaysWhatPassed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "reports")
	t.Setenv("BARNABAS_REPORTS", folder)
	found := &broken{TB: t}
	found.run(func() {
		proxy := barnabastest.Start(found, moved)
		send(t, proxy.BootstrapServer, "go-broken")
		proxy.AssertFindings("backoff")
		proxy.WaitFor("api == 'Fetch'", 1, 50*time.Millisecond)
	})
	for place, wanted := range []string{
		"check backoff finds nothing",
		`barnabas: 0 of 1 with filter="api == 'Fetch'" passed within 0.05 s`,
		"rule the leader has moved: 2 matched, 1 fired",
	} {
		if len(found.said) != 3 || !strings.Contains(found.said[place], wanted) {
			t.Fatalf("it said: %q", found.said)
		}
	}
	if !strings.Contains(found.said[2], "Produce v8 NOT_LEADER_OR_FOLLOWER") {
		t.Errorf("no exchange: %s", found.said[2])
	}
	_, file, _ := strings.Cut(found.said[2], "capture: "+folder)
	if info, err := os.Stat(folder + file); err != nil || info.Size() < 1000 {
		t.Errorf("no capture: %v", err)
	}
}

func TestTheServerOutlivesGarbageCollections(t *testing.T) {
	proxy := barnabastest.Start(t, "")
	for range 3 {
		runtime.GC()
		time.Sleep(50 * time.Millisecond) // finalizers run in a goroutine of their own
	}
	send(t, proxy.BootstrapServer, "go-collected")
	proxy.WaitFor("api == 'Produce'", 1, 5*time.Second)
}

func TestTestsShareAProxyAndSeeTheirOwnExchanges(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("BARNABAS_REPORTS", folder)
	shared := barnabastest.Shared(moved)
	first := shared(t)
	send(t, first.BootstrapServer, "go-shared")
	found := &broken{TB: t}
	found.run(func() {
		second := shared(found)
		if second.BootstrapServer != first.BootstrapServer {
			t.Errorf("two proxies: %s, %s", first.BootstrapServer, second.BootstrapServer)
		}
		send(t, second.BootstrapServer, "go-shared")
		if count := len(second.WaitFor("api == 'Produce'", 1, 10*time.Second)); count != 1 {
			t.Errorf("waited for %d", count)
		}
		if count := len(second.Exchanges("api == 'Produce'")); count != 1 {
			t.Errorf("%d exchanges", count)
		}
		second.AssertRetries(barnabastest.Retries{API: "Produce"})
		found.Error("broken")
	})
	if len(found.said) != 2 || strings.Contains(found.said[1], "NOT_LEADER_OR_FOLLOWER") {
		t.Errorf("it said: %q", found.said)
	}
	first.AssertRetries(barnabastest.Retries{API: "Produce", AtLeast: 1, AtMost: 1})
	captures, err := os.ReadDir(folder)
	if err != nil || len(captures) != 1 {
		t.Errorf("captures: %v, %v", captures, err)
	}
}

func TestAScenarioThatIsNoneIsSaid(t *testing.T) {
	found := &broken{TB: t}
	found.run(func() { barnabastest.Start(found, "slow-produce") })
	if fmt.Sprint(found.said) != "[barnabas: no ready scenario is called 'slow-produce'; did you mean 'late-produce'?]" {
		t.Errorf("it said: %q", found.said)
	}
}
