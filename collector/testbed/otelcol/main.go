// Command otelcol is the OpenTelemetry Collector that the integration tests
// talk to: only the components that they need, so that it builds in minutes.
package main

import (
	"os"
	"runtime/debug"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/otelcol"
)

func main() {
	settings := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{
			Command:     "otelcol",
			Description: "OpenTelemetry Collector for the rtrace-otel integration tests",
			Version:     release(),
		},
		Factories: components,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				ProviderFactories: []confmap.ProviderFactory{
					fileprovider.NewFactory(),
					envprovider.NewFactory(),
					yamlprovider.NewFactory(),
				},
			},
		},
	}
	// The command prints its own error, so only the exit status is left to set.
	if otelcol.NewCommand(settings).Execute() != nil {
		os.Exit(1)
	}
}

// release asks the binary which Collector it was linked with: a constant here
// would have to be kept equal to go.mod by hand.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "go.opentelemetry.io/collector/otelcol" {
				return module.Version
			}
		}
	}
	return "unknown"
}
