package main

import (
	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// npm installs what a package-lock.json says, to the byte.
var npm = [][]string{{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"}}

// npmWithoutOptional leaves out optional dependencies, and with them binaries for
// other platforms, which the lock file of "npm ci" would have to name.
var npmWithoutOptional = [][]string{{"npm", "install", "--no-save", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"}}

func nodeDrivers() []driver.Driver {
	node := func(name, about, folder string, setup [][]string, runs []driver.Run) driver.Driver {
		return driver.Driver{
			Name: name, About: about, Folder: folder,
			Needs: []string{"node", "npm"}, Setup: setup, Pins: []string{"package.json", "package-lock.json"},
			Command: []string{"node", "driver.mjs"},
			Runs:    runs,
		}
	}
	current := func(name, about, module string, limits scenario.Limits) driver.Driver {
		d := node(name, about, "node", npm, append(plain(), split))
		d.Command = append(d.Command, module)
		d.Limits = limits
		d.Adds = []string{"page.properties.category"}
		return d
	}
	return []driver.Driver{
		current("node", "@segment/analytics-node 3.1.0", "@segment/analytics-node", scenario.Limits{}),
		current("node-old", "@segment/analytics-node 1.3.0", "analytics-node-1", scenario.Limits{Fields: []string{"messageId"}}),
		node("node-legacy", "analytics-node 6.2.0", "node-legacy", npm, append(plain(), split)),
		node("node-rudder", "@rudderstack/rudder-sdk-node 3.0.13", "node-rudder", npmWithoutOptional, zipped()),
	}
}
