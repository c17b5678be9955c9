// Package kind reads the declaration of what a workspace holds off the tags of
// its Go types. The file's syntax, the records of the topic, the difference, the
// published schema and the reference are all derived from that [Shape], so a new
// field is one line of a struct, and whoever uses it.
//
//	type Destination struct {
//		ID        string        `file:"id" record:"-" rule:"id" unique:"an id" desc:"what its topic is called after"`
//		Window    time.Duration `file:"window" default:"4h" min:"1m" max:"24h" desc:"how long an event is tried"`
//		Endpoints []Endpoint    `file:"endpoints" items:"1-5" each:"an endpoint" desc:"URLs, each of which gets every delivery"`
//	}
//
// The tags, of which all but file are optional:
//
//	file      the key in the file, followed by options: "optional", the zero value is
//	          what absence means; "not", the file says the opposite of the field;
//	          "mapping", a list of structs that the file writes as a mapping from
//	          each one's first field to its second; "nil", an empty map is not absent
//	record    the member in a record of the topic, where it differs; "-": it is not there
//	kind      of a list of the document: its kind, the first part of a record's key
//	desc      one line about its meaning, for the reference and the schema
//	default   what absence means; absent, what it means in a record, where it differs
//	else      the field that gives the value where the file has none
//	only      where it may be: "type=topic", in those whose field type, which comes
//	          before it, has that word
//	rule      of a text, or of the texts in a list (package rules)
//	keys      the rule of a map's keys
//	enum      the words that a text may be, separated by spaces
//	ref       the list of the document that has what a text names; beside, an id that
//	          is built in and good too
//	unique    no two siblings may have the same value, which messages call by this;
//	          with ",fold" in any case
//	min, max  of a number or a duration
//	items     the bounds on the length of a list, such as 1-5
//	rename    other keys for fields below: "properties=traits"
//	want      what is expected at its place, where the words made from the rest don't do
//	each      the same, of its elements
//
// Three rules of a type are beyond tags, and methods: [Judge], [Hash], and
// the encoding.TextMarshaler of a text with a form of its own. A type of tags can't
// contain itself; one that does reads and describes itself ([Own]). What holds between
// sections is for the document to check ([Checker]).
//
// Non-obvious:
//
//   - A field that a release adds needs `optional` or `default`: records of the releases
//     before lack it. One that is required makes them unreadable
//     (TestAFieldIsDeclaredOnce, in wsfile).
//   - An earlier release keeps what it does not know of a record that it writes again,
//     so a member may never change its meaning; a new meaning needs a new name, or a
//     new version of the record (TestUnknownMembersAreKept, in wsrecord).
package kind
