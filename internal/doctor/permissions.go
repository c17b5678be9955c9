package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/acl"
)

// grants is what our principal may do, as far as the brokers tell.
type grants struct {
	topics       map[string]int32 // by name, a bit for each operation
	groups       map[string]int32
	transactions map[string]bool // by the beginning of the id
}

// untold is what brokers say that do not tell what is allowed.
const untold = math.MinInt32

// lookAtGrants asks what is allowed of what the rules of roles are about.
func lookAtGrants(ctx context.Context, cl *kgo.Client, topics []topicFacts, roles []acl.Role) (grants, error) {
	g := grants{topics: make(map[string]int32), groups: make(map[string]int32), transactions: make(map[string]bool)}
	for i := range topics {
		g.topics[topics[i].name] = topics[i].allowed
	}
	for _, rule := range rulesOf(roles) {
		var err error
		switch rule.Resource {
		case kmsg.ACLResourceTypeGroup:
			err = g.lookAtGroup(ctx, cl, rule.Name)
		case kmsg.ACLResourceTypeTransactionalId:
			err = g.lookAtTransactions(ctx, cl, rule.Name)
		default:
		}
		if err != nil {
			return g, err
		}
	}
	return g, nil
}

func rulesOf(roles []acl.Role) []acl.Rule {
	var all []acl.Rule
	for _, r := range roles {
		all = append(all, r.Rules...)
	}
	return all
}

func (g *grants) lookAtGroup(ctx context.Context, cl *kgo.Client, name string) error {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups, req.IncludeAuthorizedOperations = []string{name}, true
	resp, err := req.RequestWith(ctx, cl)
	if errors.Is(err, kerr.GroupAuthorizationFailed) { // not even who coordinates it
		g.groups[name] = 0
		return nil
	}
	if err != nil {
		return fmt.Errorf("describe group %s: %w", name, err)
	}
	for _, described := range resp.Groups {
		switch err := kerr.ErrorForCode(described.ErrorCode); {
		case errors.Is(err, kerr.GroupAuthorizationFailed):
			g.groups[described.Group] = 0
		case err == nil:
			g.groups[described.Group] = described.AuthorizedOperations
		default: // there is no such group yet
			g.groups[described.Group] = untold
		}
	}
	return nil
}

// lookAtTransactions asks who coordinates a transactional id, which brokers tell
// those who may use it.
func (g *grants) lookAtTransactions(ctx context.Context, cl *kgo.Client, prefix string) error {
	req := kmsg.NewPtrFindCoordinatorRequest()
	const transactional = 1
	req.CoordinatorType, req.CoordinatorKey, req.CoordinatorKeys = transactional, prefix+"doctor", []string{prefix + "doctor"}
	resp, err := req.RequestWith(ctx, cl)
	if errors.Is(err, kerr.TransactionalIDAuthorizationFailed) {
		g.transactions[prefix] = false
		return nil
	}
	if err != nil {
		return fmt.Errorf("find the coordinator of transactions %s*: %w", prefix, err)
	}
	codes := []int16{resp.ErrorCode}
	for _, c := range resp.Coordinators {
		codes = append(codes, c.ErrorCode)
	}
	allowed := true
	for _, code := range codes {
		if errors.Is(kerr.ErrorForCode(code), kerr.TransactionalIDAuthorizationFailed) {
			allowed = false
		}
	}
	g.transactions[prefix] = allowed
	return nil
}

// judgeGrants judges whether roles can do what they have to.
func judgeGrants(g grants, roles []acl.Role) []Finding {
	f := &findings{check: CheckPermissions}
	for _, role := range roles {
		var lacking, creating []string
		for _, rule := range role.Rules {
			switch {
			case g.allows(rule):
			case rule.Creates:
				creating = append(creating, rule.String())
			default:
				lacking = append(lacking, rule.String())
			}
		}
		if len(lacking) > 0 {
			f.problem(role.Name, "our principal lacks "+strings.Join(lacking, ", "),
				"docs/brokers.md has the commands that allow it; where each stage has a principal of its own, check one at a time with --stage")
		}
		if len(creating) > 0 {
			f.warn(role.Name, "our principal lacks "+strings.Join(creating, ", "), "allow it, or create the topics beforehand, those of new destinations too")
		}
	}
	return f.otherwise("our principal has all permissions that are needed, as far as the brokers tell")
}

// allows reports whether a rule is granted wherever that is known.
func (g *grants) allows(rule acl.Rule) bool {
	bit := int32(1) << rule.Operation
	denied := func(ops int32) bool { return ops != untold && ops&bit == 0 }
	switch rule.Resource {
	case kmsg.ACLResourceTypeTopic:
		for name, ops := range g.topics {
			if (name == rule.Name || rule.Prefixed && strings.HasPrefix(name, rule.Name)) && denied(ops) {
				return false
			}
		}
	case kmsg.ACLResourceTypeGroup:
		ops, known := g.groups[rule.Name]
		return !known || !denied(ops)
	case kmsg.ACLResourceTypeTransactionalId:
		allowed, known := g.transactions[rule.Name]
		return !known || allowed
	default:
	}
	return true
}
