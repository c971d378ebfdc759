package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/control/client"
)

// apiFlags say which daemon is meant.
type apiFlags struct{ addr, tokenFile string }

// tokenVariable carries the token where no file does; a flag would show it to
// everybody who lists processes.
const tokenVariable = "WEIRLINE_CONTROL_TOKEN"

func (f *apiFlags) add(c *cobra.Command) {
	c.PersistentFlags().StringVar(&f.addr, "api", client.Default, "control address of the daemon: http://host:port or unix:PATH")
	c.PersistentFlags().StringVar(&f.tokenFile, "token-file", "", "file with the control token; or set "+tokenVariable)
}

func (f *apiFlags) client() (*client.Client, error) {
	token := os.Getenv(tokenVariable)
	if f.tokenFile != "" {
		text, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, exitError{exitUsage, fmt.Errorf("--token-file: %w", err)}
		}
		token = strings.TrimSpace(string(text))
	}
	c, err := client.New(f.addr, token)
	if err != nil {
		return nil, exitError{exitUsage, fmt.Errorf("--api: %w", err)}
	}
	return c, nil
}

// ctlCommand is the API for scripts and hands: one sub-command an operation.
func ctlCommand() *cobra.Command {
	var api apiFlags
	c := &cobra.Command{
		Use:   "ctl",
		Short: "Ask or tell a running daemon: routes, connections, kick, reload ...",
		Long: `Asks or tells a running daemon through its control API. Answers are JSON, as the
API gives them (docs/openapi.yaml, or weirline ctl openapi).`,
	}
	api.add(c)
	sub := func(use, short string, args int, run func(*client.Client, *cobra.Command, []string) error) {
		c.AddCommand(&cobra.Command{
			Use: use, Short: short, Args: cobra.ExactArgs(args),
			RunE: func(cmd *cobra.Command, args []string) error {
				client, err := api.client()
				if err != nil {
					return err
				}
				defer client.Close()
				return coded(run(client, cmd, args))
			},
		})
	}
	show := func(path string) func(*client.Client, *cobra.Command, []string) error {
		return func(c *client.Client, cmd *cobra.Command, args []string) error {
			return c.Do(cmd.Context(), "GET", fill(path, args), nil, cmd.OutOrStdout())
		}
	}
	tell := func(method, path string) func(*client.Client, *cobra.Command, []string) error {
		return func(c *client.Client, cmd *cobra.Command, args []string) error {
			return c.Do(cmd.Context(), method, fill(path, args), nil, nil)
		}
	}
	post := func(path string) func(*client.Client, *cobra.Command, []string) error {
		return func(c *client.Client, cmd *cobra.Command, args []string) error {
			in, err := readJSON(args[len(args)-1], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return c.Do(cmd.Context(), "POST", fill(path, args), in, cmd.OutOrStdout())
		}
	}
	sub("status", "The daemon itself", 0, show("/v1/status"))
	sub("routes", "All routes", 0, show("/v1/routes"))
	sub("route NAME", "One route", 1, show("/v1/routes/{}"))
	sub("add-route FILE", "Start a route: JSON with the keys of the configuration file; - reads stdin", 1, post("/v1/routes"))
	sub("remove-route NAME", "End a route", 1, tell("DELETE", "/v1/routes/{}"))
	sub("add-output ROUTE FILE", `Add an output, such as {"url": "srt://host:9000"}; - reads stdin`, 2, post("/v1/routes/{}/outputs"))
	sub("remove-output ROUTE ID", "End an output", 2, tell("DELETE", "/v1/routes/{}/outputs/{}"))
	sub("connections", "All connections with all counters", 0, show("/v1/connections"))
	sub("connection ID", "One connection", 1, show("/v1/connections/{}"))
	sub("kick ID", "End a connection", 1, tell("DELETE", "/v1/connections/{}"))
	sub("listeners", "Shared SRT ports, and whom they refused", 0, show("/v1/listeners"))
	sub("events", "What happened, as far as it is kept", 0, show("/v1/events"))
	sub("reload", "Read the configuration file again", 0, tell("POST", "/v1/reload"))
	sub("metrics", "The metrics for Prometheus", 0, show("/metrics"))
	sub("openapi", "The description of the API", 0, show("/v1/openapi.yaml"))
	sub("log-level LEVEL", "Log debug, info, warn or error from now on", 1, func(c *client.Client, cmd *cobra.Command, args []string) error {
		return c.Do(cmd.Context(), "PUT", "/v1/log-level", map[string]string{"level": args[0]}, nil)
	})
	return c
}

// fill puts arguments where {} stands.
func fill(path string, args []string) string {
	for _, a := range args {
		path = strings.Replace(path, "{}", url.PathEscape(a), 1)
	}
	return path
}

// readJSON reads a file, or stdin for "-".
func readJSON(file string, stdin io.Reader) (json.RawMessage, error) {
	var text []byte
	var err error
	if file == "-" {
		text, err = io.ReadAll(stdin)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, exitError{exitUsage, fmt.Errorf("%s is not JSON: send an object with the keys of the configuration file, such as {\"name\": \"x\", \"sources\": [{\"url\": \"srt://:9000?mode=listener\"}]}", file)}
	}
	return text, nil
}
