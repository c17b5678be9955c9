package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// withExports returns roles that may write, where they may write to the topics of
// destinations, to those too that a workspace has given names of their own.
func withExports(roles []acl.Role, s *workspace.Snapshot) []acl.Role {
	roles = slices.Clone(roles)
	for i := range roles {
		writes := slices.ContainsFunc(roles[i].Rules, func(r acl.Rule) bool {
			return r.Prefixed && r.Name == schemas.DeliverPrefix && r.Operation == acl.Write
		})
		for _, d := range s.DestinationsOf(workspace.TypeTopic) {
			if writes && ownName(d) {
				roles[i].Rules = append(slices.Clip(roles[i].Rules), writing(d)...)
			}
		}
	}
	return roles
}

// ownName reports whether the ACLs of the router do not have the topic of a destination yet.
func ownName(d *workspace.Destination) bool {
	return schemas.PrefixOf(d.Topic()) != schemas.ExportPrefix
}

func writing(d *workspace.Destination) []acl.Rule {
	return acl.Topic(d.Topic(), "writes events for destination "+d.ID, acl.Write, acl.Create, acl.DescribeConfigs)
}

// tellExports says of each topic that others read what these have to be allowed. The
// embedded broker has no ACLs.
func tellExports(s *workspace.Snapshot, embedded bool) []Finding {
	f := &findings{check: CheckPermissions}
	for _, d := range s.DestinationsOf(workspace.TypeTopic) {
		if embedded {
			continue
		}
		f.ok("destination "+d.ID, fmt.Sprintf("who reads topic %s as a group needs: %s", d.Topic(), strings.Join(reading(d).Commands("User:READER", true), "; ")))
		if ownName(d) {
			role := acl.Role{Name: "router", Rules: writing(d)}
			f.ok("destination "+d.ID, fmt.Sprintf("the router, and whoever redrives, needs beside %s*: %s", schemas.DeliverPrefix, strings.Join(role.Commands("User:ROUTER", true), "; ")))
		}
	}
	return f.all
}

// reading is the role of one who reads the topic of a destination.
func reading(d *workspace.Destination) acl.Role {
	return acl.Role{Name: "reader", Rules: append(acl.Topic(d.Topic(), "reads events", acl.Read, acl.Describe), acl.Group("GROUP", "keeps how far it is"))}
}
