package main

import "github.com/anabranch/anabranch/test/sdktest/driver"

// pythonDrivers share a folder, in which each has an environment of its own.
func pythonDrivers() []driver.Driver {
	var setup [][]string
	var pins []string
	python := func(name, about, module, version string, runs []driver.Run) driver.Driver {
		environment, requirements := "venv-"+version, "requirements-"+version+".txt"
		setup = append(setup,
			[]string{"python3", "-m", "venv", environment},
			[]string{environment + "/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements})
		pins = append(pins, requirements)
		return driver.Driver{
			Name: name, About: about, Folder: "python", Needs: []string{"python3"},
			Command: []string{environment + "/bin/python", "driver.py", module},
			Runs:    runs,
		}
	}
	all := []driver.Driver{
		python("python", "segment-analytics-python 2.4.0", "segment.analytics", "segment", append(zipped(), split)),
		python("python-old", "segment-analytics-python 2.3.4", "segment.analytics", "segment-old", append(zipped(), split)),
		python("python-rudder", "rudder-sdk-python 2.1.9", "rudderstack.analytics.client", "rudder", zipped()),
	}
	for i := range all {
		all[i].Setup, all[i].Pins = setup, pins
	}
	return all
}
