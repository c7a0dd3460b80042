package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

func readText(t *testing.T, text string) (config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	must(os.WriteFile(path, []byte(text), 0o600))
	return readConfig(path)
}

const small = `"trace":{"lasts":60,"services":[{"name":"web","replicas":1,"cpu":0.5}]},
	"pools":[{"name":"default","types":["m.xlarge"]}],
	"instanceTypes":[{"name":"m.xlarge","cpu":4,"memory":"16Gi","pods":58,"price":0.2},{"name":"c.large","cpu":2,"memory":"4Gi","price":0.1}]`

func TestAConfigurationHasDefaults(t *testing.T) {
	c, err := readText(t, "{"+small+`,"boot":[1,2]}`)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "holder", c.Holder == nil, true)
	equal(t, "boot and image pull", []span{c.Boot, c.ImagePull}, []span{{1, 2}, {2, 20}})
	equal(t, "millicores of web", c.Trace.Services[0].CPU.MilliValue(), 500)
	c, err = readText(t, "{"+small+`,"holder":{"launchEventDelay":[1,3]}}`)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "delay", c.Holder.LaunchEventDelay, span{1, 3})
}

func TestMistakesInAConfigurationAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"{" + small + `,"boots":[1,2]}`:                                       `unknown field "boots"`,
		"{" + small + `,"holder":{"delay":1}}`:                                `unknown field "delay"`,
		"{" + small + `,"ties":"last"}`:                                       "neither random nor first",
		"{" + strings.Replace(small, `["m.xlarge"]`, `["r.xlarge"]`, 1) + "}": "none of the instance types",
		"{" + strings.Replace(small, `"cpu":0.5`, `"pool":"x"`, 1) + "}":      "there is no NodePool x",
		"{" + strings.Replace(small, "60", "0", 1) + "}":                      "lasts 0 seconds",
	} {
		if _, err := readText(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func TestOnlyWhatComesAfterTheStartCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := emptyWorld(t, trace{})
		w.tally.start = w.config.Start.AddDate(1, 0, 0)
		i := &instance{cores: 4, reason: drifted}
		w.tally.launch(i)
		w.tally.terminate(i)
		equal(t, "before", w.tally.counts, map[string]int{})
		w.tally.start = w.config.Start
		w.tally.launch(i)
		w.tally.terminate(i)
		equal(t, "after", w.tally.counts, map[string]int{"launched": 1, "gone": 1, "drifted": 1})
	})
}
