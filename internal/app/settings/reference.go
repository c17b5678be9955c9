package settings

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/anabranch/anabranch/internal/pipeline"
)

// WriteReference prints every setting with its default and what it is for, those of
// the stages of a list among them.
func WriteReference(w io.Writer, list pipeline.List) error {
	cfg := Config{Stages: list.Make()}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "VARIABLE\tDEFAULT\tWHAT IT IS FOR")
	for _, v := range cfg.variables() {
		def := v.def
		if def == "" {
			def = "(empty)"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", v.name, def, v.desc)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the configuration reference: %w", err)
	}
	return nil
}
