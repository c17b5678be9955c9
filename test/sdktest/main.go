// Command sdktest has the official SDKs of the family speak to the product, each
// installed by its own package manager, and looks at what arrives at the webhooks:
// every call once, with the fields that the SDK was given.
//
//	go run ./test/sdktest                  every SDK
//	go run ./test/sdktest -only node,go3   some of them
//	go run ./test/sdktest -list            what there is
//	go run ./test/sdktest -install         installs them, and does no more
//
// The product runs as a child process on free ports. Between it and each SDK
// stands a proxy that answers the first requests with 503 and 429 and cuts a
// connection, so that the SDK has to try again. Each run prints one line. The exit
// code is 1 when a call was lost, doubled or altered, when an SDK never met a
// fault that it should have, and when one could not be installed: no SDK is left
// out in silence.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/anabranch/anabranch/test/sdktest/driver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "sdktest: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil || o.list {
		return err
	}
	dir, err := os.MkdirTemp("", "anabranch-sdktest-")
	if err != nil {
		return err
	}
	t := &test{dir: dir, sources: o.sources, cache: o.cache, binary: o.binary, width: o.width}
	work := t.run
	if o.install {
		work = t.installed
	}
	if err = work(ctx, o.drivers); err != nil {
		return fmt.Errorf("%w (scenarios and logs are in %s)", err, dir)
	}
	return os.RemoveAll(dir)
}

// options are what the command line says.
type options struct {
	drivers        []driver.Driver
	list, install  bool
	sources, cache string
	binary         string
	width          int
}

func parseOptions(args []string) (options, error) {
	var o options
	var only string
	flags := flag.NewFlagSet("sdktest", flag.ContinueOnError)
	flags.StringVar(&only, "only", "", "comma-separated names of SDKs; empty: all")
	flags.BoolVar(&o.list, "list", false, "list the SDKs")
	flags.BoolVar(&o.install, "install", false, "install the SDKs, and do no more")
	flags.StringVar(&o.sources, "drivers", "test/sdktest/drivers", "directory of the drivers")
	flags.StringVar(&o.cache, "cache", ".sdk", "directory that SDKs are installed in")
	flags.StringVar(&o.binary, "binary", "", "of the product; empty: built from this source")
	flags.IntVar(&o.width, "parallel", 6, "how many runs at once")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.drivers, err = choose(only); err != nil {
		return o, err
	}
	if o.list {
		for i := range o.drivers {
			fmt.Printf("%-20s %s\n", o.drivers[i].Name, o.drivers[i].About)
		}
	}
	return o, nil
}

// choose finds drivers by their names; none means all.
func choose(names string) ([]driver.Driver, error) {
	all := drivers()
	if names == "" {
		return all, nil
	}
	var chosen []driver.Driver
	for name := range strings.SplitSeq(names, ",") {
		d, ok := find(all, name)
		if !ok {
			return nil, fmt.Errorf("-only: no SDK %q; -list shows them", name)
		}
		chosen = append(chosen, d)
	}
	return chosen, nil
}

func find(all []driver.Driver, name string) (driver.Driver, bool) {
	for i := range all {
		if all[i].Name == name {
			return all[i], true
		}
	}
	return driver.Driver{}, false
}
