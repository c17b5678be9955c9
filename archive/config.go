package archive

import (
	"fmt"
	"time"
)

// Config is what an operator may set of the stage. Where archives are is said in the
// workspace.
type Config struct {
	Timeout time.Duration `env:"ARCHIVE_TIMEOUT" envDefault:"1m" desc:"how long storing one object may take before it is tried again"`
}

// Validate reports every setting that cannot work, with the variable, the value and what
// was expected.
func (c Config) Validate() error {
	if c.Timeout < time.Second || c.Timeout > time.Hour {
		return fmt.Errorf("ARCHIVE_TIMEOUT=%s: expected a duration of 1s to 1h", c.Timeout)
	}
	return nil
}
