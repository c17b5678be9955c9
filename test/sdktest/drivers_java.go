package main

import (
	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/front"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

func javaDrivers() []driver.Driver {
	java := func(name, about string, zips bool) driver.Driver {
		return driver.Driver{
			Name: name, About: about, Folder: name,
			Needs: []string{"javac", "mvn"},
			Setup: [][]string{
				{"mvn", "-q", "-B", "-ntp", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath"},
			},
			Command: []string{"sh", "-c", `exec java -cp "target/classes:$(cat classpath)" Driver`},
			// The first pause after a failure is up to half a minute, and doubles: one
			// fault a run, or the test would take minutes.
			Runs: []driver.Run{
				{Mode: driver.Batch, Faults: []front.Fault{front.Unavailable}},
				{Mode: driver.Batch, Gzip: zips, Tag: "cut", Faults: []front.Fault{front.Cut}},
				{Mode: driver.Each, Faults: []front.Fault{front.TooManyRequests}},
				split,
			},
			// Its JSON leaves out members that are null.
			Limits: scenario.Limits{Calls: []string{"track-null"}},
		}
	}
	return []driver.Driver{
		java("java", "com.segment.analytics.java:analytics 3.5.1", false),
		java("java-rudder", "com.rudderstack.sdk.java.analytics:analytics 3.0.0", true),
		kotlin(java("kotlin", "com.segment.analytics.kotlin:core 1.16.3", true)),
	}
}

// kotlin is the SDK of apps. It compresses every request, and tries again with
// the next flush.
func kotlin(d driver.Driver) driver.Driver {
	d.Runs = []driver.Run{
		{Mode: driver.Batch, Gzip: true, Faults: every},
		{Mode: driver.Large, Gzip: true},
	}
	d.Limits = scenario.Limits{Types: []string{"page"}}
	d.Adds = []string{"anonymousId", "screen.category"} // an empty one
	return d
}
