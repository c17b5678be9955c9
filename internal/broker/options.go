package broker

import (
	"log/slog"
	"math"
	"net"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// never is how long the broker waits between compactions. Compaction rewrites segments in place, and a kill in
	// the midst of it lost up to 82 % of the keys of a topic. It must not happen whatever cleanup.policy a client gives
	// a topic, and there is no switch for it; in milliseconds as a [time.Duration] this is as far as a timer can reach.
	never = 100 * 365 * 24 * time.Hour

	// segmentBytes is the size at which a partition begins a new file. Disk is freed by whole files, so a smaller one
	// keeps a log closer to its limits; each file that was read costs a descriptor until it is freed. At 16 MiB the
	// last file of each of 100 partitions is 1.6 GB at most, and a log of 10 GB takes 640 descriptors.
	segmentBytes = 16 << 20

	// maxMessageBytes bounds a record batch. A batch of calls is at most 512,000 bytes, its context is merged into
	// each of its calls, and stable form spells numbers out (1e20 becomes 21 digits): no record reaches five times that.
	maxMessageBytes = 4 << 20

	// minSessionTimeout lets group members choose a session as short as they can keep up with. The usual floor of
	// six seconds protects a shared broker from other people's clients.
	minSessionTimeout = 100 * time.Millisecond
)

// Clients authenticate as User by Mechanism.
const (
	User      = "anabranch"
	Mechanism = "SCRAM-SHA-256"
)

// options configures the one node. Topics are never created by the way (the default): a topic that springs up on the
// first produce would have neither the partitions nor the retention that belong to its name.
//
// Clients authenticate by SCRAM alone. kfake's PLAIN lets in any unknown user with an empty password, and a client that is
// fooled by another process on this port would tell that one the password.
func options(logDir string, listener net.Listener, password schemas.Secret, log *slog.Logger) []kfake.Opt {
	return []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.ClusterID(kafka.EmbeddedCluster),
		kfake.DataDir(logDir),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return listener, nil }),
		kfake.WithLogger(logger{log}),
		kfake.EnableSASL(),
		kfake.Superuser(Mechanism, User, password.Reveal()),
		kfake.GroupMinSessionTimeout(minSessionTimeout),
		kfake.BrokerConfigs(map[string]string{
			"log.cleaner.backoff.ms": strconv.FormatInt(never.Milliseconds(), 10),
			"log.segment.bytes":      strconv.Itoa(segmentBytes),
			"message.max.bytes":      strconv.Itoa(maxMessageBytes),
			// Offsets of a group that nobody reads with at the moment expire after a week by default. A destination that
			// was off for longer would then be sent again all that its topic still holds.
			"offsets.retention.minutes": strconv.Itoa(math.MaxInt32),
		}),
	}
}
