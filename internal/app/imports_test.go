package app

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/testkit"
)

const purchases = "../../ingest/imports/testdata/cdnow"

// shop is the audiences of the example in docs/import.md.
const shop = `sources: [{id: shop, writeKey: wk_shop}]
destinations: []
audiences:
  - {id: repeat_buyers, when: {did: Order Completed, times: {gte: 2}}}
  - {id: big_spenders, when: {did: Order Completed, take: sum, of: revenue, is: {gte: 100}}}
`

// TestAnImportMakesMembers: the purchases of 1997, imported by the mapping of the example,
// make the members that a count of the file makes.
func TestAnImportMakesMembers(t *testing.T) {
	page, err := os.ReadFile("../../docs/import.md")
	if _, audiences, _ := strings.Cut(shop, "destinations: []\n"); err != nil || !strings.Contains(string(page), audiences) {
		t.Errorf("%v: docs/import.md does not show the audiences:\n%s", err, audiences)
	}
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, shop)
	env := environment(t)
	setShell(t, env, start(t, with(env, "WORKSPACE_FILE", file)))
	if text, err := typed(t, "import", "start", purchases+".txt", "--map", purchases+".yaml", "--deliver", "none"); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	repeat, big := buyers(t)
	for audience, want := range map[string][]string{"repeat_buyers": repeat, "big_spenders": big} {
		var text string
		testkit.Until(t, func() bool {
			text, _ = typed(t, "personas", "members", audience)
			return !slices.ContainsFunc(want, func(member string) bool { return !strings.Contains(text, member) })
		}, audience+" to have its members")
		got := slices.DeleteFunc(strings.Fields(text), func(word string) bool { return len(word) != len(want[0]) || word[0] != '0' })
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", audience, diff, text)
		}
	}
}

// buyers counts the file: who has bought twice, and who for a hundred.
func buyers(t *testing.T) (repeat, big []string) {
	t.Helper()
	file, err := os.Open(purchases + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	orders, spent := make(map[string]int), make(map[string]float64)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if row := strings.Fields(lines.Text()); row[0] != "customer_id" {
			revenue, err := strconv.ParseFloat(row[3], 64)
			if err != nil {
				t.Fatal(err)
			}
			orders[row[0]]++
			spent[row[0]] += revenue
		}
	}
	for customer := range orders {
		if orders[customer] >= 2 {
			repeat = append(repeat, customer)
		}
		if spent[customer] >= 100 {
			big = append(big, customer)
		}
	}
	slices.Sort(repeat)
	slices.Sort(big)
	return repeat, big
}
