package wsfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMistakesBetweenSections have the line of what is wrong, as all others do.
func TestMistakesBetweenSections(t *testing.T) {
	t.Parallel()
	const text = `sources:
  - {id: website, writeKey: wk}
  - {id: personas, writeKey: wk2}
destinations:
  - {id: crm, type: webhooks, sources: [website, personas], endpoints: [{url: "https://h"}]}
  - {id: plain, type: webhooks, sources: [website], endpoints: [{url: "https://h"}]}
audiences:
  - id: a
    when:
      any:
      - {audience: b}
      - did: E
        sources: [websit]
  - {id: b, when: {audience: a}, destinations: [plain]}
  - name: A
    when: {computed: c, is: 1}
  - id: d
    when: {did: E, then: {did: F, within: 1d}}
traits:
  - {id: b, take: count, did: E, destinations: [none]}
identity: {anonymous_ids: {max: 0, per: soon}}
`
	want := []string{
		`3: sources[1].id: "personas": expected another id: personas is the built-in source that tells of audiences and traits`,
		`13: audiences[0].when.any[1].sources: "websit": expected the id of one of the sources, such as website`,
		`14: audiences[1].destinations: "plain": expected a destination that has personas among its sources`,
		`14: audiences[1].when.audience: a -> b -> a: expected audiences that do not lead back to themselves`,
		`15: audiences[2].id: "a": expected an id of its own among audiences and traits; audiences[0] has the same`,
		`16: audiences[2].when.computed: "c": expected the id of one of the traits`,
		`18: audiences[3].when.then: not supported yet: an event that follows another one: expected a definition without then`,
		`20: traits[0].id: "b": expected an id of its own among audiences and traits; audiences[1] has the same`,
		`20: traits[0].destinations: "none": expected the id of one of the destinations`,
		`21: identity.anonymous_ids.max: "0": expected a whole number, 1 to 1000000`,
		`21: identity.anonymous_ids.per: "soon": expected a duration of at least a second, such as 30m, 12h or 7d`,
	}
	if diff := cmp.Diff(want, problemsOf(t, text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
