package main

import (
	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

// goDrivers are modules of their own, which neither the product's nor the workspace
// around it sees.
func goDrivers() []driver.Driver {
	all := []driver.Driver{
		{
			Name: "go2", About: "github.com/segmentio/analytics-go 2.1.1",
			Runs: plain(),
			Limits: scenario.Limits{
				Types:  []string{"screen"},
				Fields: []string{"alias.context", "alias.integrations"},
			},
		},
		{
			Name: "go3", About: "github.com/segmentio/analytics-go/v3 3.3.0",
			Runs:   append(plain(), split, driver.Run{Mode: driver.Exit}),
			Limits: scenario.Limits{Fields: []string{"page.category"}},
		},
		{
			Name: "go-rudder", About: "github.com/rudderlabs/analytics-go/v4 4.2.1",
			Runs:   append(zipped(), split, driver.Run{Mode: driver.Exit}),
			Limits: scenario.Limits{Fields: []string{"page.category"}},
			Adds:   []string{"track.anonymousId", "page.anonymousId", "screen.anonymousId", "group.anonymousId"},
		},
	}
	for i := range all {
		d := &all[i]
		d.Folder, d.Needs, d.Command = d.Name, []string{"go"}, []string{"./driver"}
		d.Setup = [][]string{{"env", "GOWORK=off", "go", "build", "-o", "driver", "."}}
	}
	return all
}
