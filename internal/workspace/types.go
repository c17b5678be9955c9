package workspace

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/workspace/internal/rules"
	"github.com/anabranch/anabranch/schemas"
)

// The types of destinations. A destination without one has webhooks.
const (
	TypeWebhooks = "webhooks"
	TypeTopic    = "topic"
	TypeArchive  = "archive"
)

// Is reports whether the destination is of a type.
func (d *Destination) Is(kind string) bool { return cmp.Or(d.Type, TypeWebhooks) == kind }

// IntegrationName returns the name that selects the destination in a call's
// integrations map, case sensitive (spec.md, What the service does, 3).
func (d *Destination) IntegrationName() string {
	switch {
	case d.Is(TypeTopic):
		return "Topic"
	case d.Is(TypeArchive):
		return "Archive"
	default:
		return "Webhooks"
	}
}

// Topic returns the name of the topic that the router writes its events to. Nobody else
// decides what it is called.
func (d *Destination) Topic() string {
	switch {
	case d.Is(TypeTopic) && d.Export != nil && d.Export.Name != "":
		return d.Export.Name
	case d.Is(TypeTopic):
		return schemas.ExportTopic(d.ID)
	case d.Is(TypeArchive):
		return schemas.ArchiveTopic(d.ID)
	default:
		return schemas.DeliverTopic(d.ID)
	}
}

// Export is what the topic of a destination of the type topic is like. Its zero value, and
// none, are one with the usual name, partitions and retention.
type Export struct {
	Name       string        `file:"name,optional" rule:"topic" unique:"a topic" desc:"its name, if not deliver.export.<id>"`
	Partitions int           `file:"partitions,optional" min:"1" max:"1000" desc:"how many it is created with, if not as many as other topics; it never gets more"`
	Retention  time.Duration `file:"retention,optional" min:"1m" max:"87600h" desc:"how long it keeps events, if not as long as the topics of webhooks"`
}

// Archive is where the calls of a destination of the type archive are kept, and how much of
// them one file holds.
type Archive struct {
	Directory string         `file:"directory,optional" rule:"path" desc:"a directory of the machines that archive"`
	Bucket    string         `file:"bucket,optional" rule:"bucket" desc:"or a bucket of an object store with the protocol of S3"`
	Endpoint  string         `file:"endpoint,optional" rule:"url" desc:"of a bucket: the URL of the object store, if it is not AWS"`
	Region    string         `file:"region,optional" rule:"name" desc:"of a bucket: its region"`
	Prefix    string         `file:"prefix,optional" rule:"path" desc:"of a bucket: what the names of all objects begin with"`
	AccessKey schemas.Secret `file:"accessKey,optional" rule:"secret" desc:"of a bucket: the id of the key; without the two, the object store is asked as the machine"`
	SecretKey schemas.Secret `file:"secretKey,optional" rule:"secret" desc:"of a bucket: the key itself"`
	MaxBytes  Size           `file:"maxBytes" default:"64MiB" rule:"size" desc:"how much a file holds at most before it is compressed, but for the last event"`
	MaxAge    time.Duration  `file:"maxAge" default:"5m" min:"1s" max:"24h" desc:"how long after its first event a file is closed at the latest"`
}

// Objection returns what was expected of the keys beside one another.
func (a *Archive) Objection() string {
	switch {
	case (a.Directory == "") == (a.Bucket == ""):
		return "exactly one of the keys directory and bucket"
	case a.Directory != "" && (a.Endpoint+a.Region+a.Prefix != "" || a.AccessKey+a.SecretKey != ""):
		return "a bucket with the keys endpoint, region, prefix, accessKey and secretKey; a directory has none of them"
	case (a.AccessKey == "") != (a.SecretKey == ""):
		return "accessKey and secretKey, or neither"
	}
	return ""
}

// Size is a number of bytes, in the notation of a workspace: 64MiB.
type Size int64

// MarshalText returns a text such as 64MiB.
func (s Size) MarshalText() ([]byte, error) { return []byte(rules.FormatSize(int64(s))), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Size) UnmarshalText(text []byte) error {
	bytes, ok := rules.ParseSize(string(text))
	if !ok {
		return errors.New(rules.WantSize)
	}
	*s = Size(bytes)
	return nil
}

// left says what becomes of the topic of a destination; nil: it is not there.
func left(before, after *Destination) string {
	switch {
	case before == nil:
		return ""
	case after != nil && before.Topic() == after.Topic():
		if before.Is(TypeTopic) && !equal(before.Export, after.Export) {
			return "topic " + after.Topic() + " keeps its partitions and its retention if it is there: `anabranch doctor` tells where they differ, and how to change them"
		}
		return ""
	case before.Is(TypeTopic):
		return "topic " + before.Topic() + " is not deleted: it keeps what it holds for its retention, and nothing more is written to it"
	case before.Is(TypeArchive):
		return "topic " + before.Topic() + " is not deleted: what waits there is not archived any more"
	default:
		return "topic " + before.Topic() + " is not deleted: what waits there goes to dead-letters"
	}
}

// equal compares what two exports say; nil says nothing.
func equal(a, b *Export) bool {
	var none Export
	return *cmp.Or(a, &none) == *cmp.Or(b, &none)
}

// DestinationsOf returns the destinations of a type, ascending by id. A stage works for
// those of its type alone; what a later release may add no stage of this one touches.
func (s *Snapshot) DestinationsOf(kind string) []*Destination { return s.byType[kind] }

// ByTopic returns the destination that the router writes to a topic for.
func (s *Snapshot) ByTopic(topic string) (*Destination, bool) {
	d, ok := s.byTopic[topic]
	return d, ok
}

// Exports returns the topics of the destinations of the type topic, by name, and what is
// wanted of each.
func (s *Snapshot) Exports() map[string]schemas.Export {
	all := make(map[string]schemas.Export)
	for _, d := range s.DestinationsOf(TypeTopic) {
		var wanted schemas.Export
		if d.Export != nil {
			wanted = schemas.Export{Partitions: d.Export.Partitions, Retention: d.Export.Retention}
		}
		all[d.Topic()] = wanted
	}
	return all
}

// Topics returns the topics of all destinations.
func (s *Snapshot) Topics() []string {
	topics := make([]string, len(s.destinations))
	for i, d := range s.destinations {
		topics[i] = d.Topic()
	}
	return topics
}

// classify computes what the two look up.
func (s *Snapshot) classify() {
	s.byType, s.byTopic = make(map[string][]*Destination), make(map[string]*Destination, len(s.destinations))
	for _, d := range s.destinations {
		kind := cmp.Or(d.Type, TypeWebhooks)
		s.byType[kind] = append(s.byType[kind], d)
		s.byTopic[d.Topic()] = d
	}
}

func (d *Destination) clone() *Destination {
	c := *d
	c.Sources = slices.Sorted(slices.Values(d.Sources))
	c.Endpoints = slices.Clone(d.Endpoints)
	for i := range c.Endpoints {
		c.Endpoints[i].Headers = slices.Clone(c.Endpoints[i].Headers)
	}
	if d.Archive != nil {
		archive := *d.Archive
		c.Archive = &archive
	}
	return &c
}
