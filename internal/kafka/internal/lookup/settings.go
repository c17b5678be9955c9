package lookup

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrHidden means that the brokers do not let our principal look at some of the
// settings (it has no DescribeConfigs).
var ErrHidden = errors.New("no permission to read the settings (DescribeConfigs)")

// Settings returns the named settings of topics or brokers, by their names. What does
// not exist is left out; what may not be seen has none, and the error is [ErrHidden]
// then. With any other error there is nothing.
func Settings(ctx context.Context, cl *kgo.Client, of kmsg.ConfigResourceType, settings []string, names ...string) (map[string]map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, name := range names {
		resource := kmsg.NewDescribeConfigsRequestResource()
		resource.ResourceType, resource.ResourceName, resource.ConfigNames = of, name, settings
		req.Resources = append(req.Resources, resource)
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, fmt.Errorf("describe settings: %w", err)
	}
	found := make(map[string]map[string]string, len(names))
	var hidden error
	for i := range resp.Resources {
		r := &resp.Resources[i]
		err := kerr.ErrorForCode(r.ErrorCode)
		switch {
		case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
			found[r.ResourceName], hidden = nil, ErrHidden
		case errors.Is(err, kerr.UnknownTopicOrPartition):
		case err != nil:
			return nil, fmt.Errorf("describe the settings of %s: %w", r.ResourceName, err)
		default:
			found[r.ResourceName] = configs(r.Configs)
		}
	}
	return found, hidden
}

func configs(all []kmsg.DescribeConfigsResponseResourceConfig) map[string]string {
	values := make(map[string]string, len(all))
	for i := range all {
		if all[i].Value != nil {
			values[all[i].Name] = *all[i].Value
		}
	}
	return values
}
