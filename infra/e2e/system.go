package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/aacworkflow/mcp-connector/infra/seed"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/gateway"
)

// Config says what to start.
type Config struct {
	Addr    string // where the API listens: host:port; port 0 takes any free port
	Builder *builder
	// Parameters are those of the template that are not to have their defaults. PublicBaseUrl is
	// where the system listens, unless it is among them.
	Parameters map[string]string
	// Settings are further variables of every function's environment, or other values of them.
	Settings map[string]string
	// Between stands between the functions and DynamoDB; nil for nothing.
	Between func(engine http.Handler) http.Handler
}

// System is the connector as it is deployed, on this machine.
type System struct {
	URL    string // without a slash at the end
	Access seed.Access
	Conn   dynamo.Conn // to the tables, past the functions

	*deployment
	closers []func() error // in the order in which they were opened
}

// The physical names of the tables.
var tables = dynamo.Tables{Data: stackName + "-data", Audit: stackName + "-audit"}

// Start starts the engine, loads the demo data and listens. No function is started yet. The
// context bounds the start alone.
func Start(ctx context.Context, cfg Config) (*System, error) {
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, err
	}
	s := &System{URL: "http://" + listener.Addr().String()}
	front, err := s.open(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, listener.Close(), s.Close())
	}
	s.serve(listener, front)
	return s, nil
}

// open starts all but the front door, which it returns.
func (s *System) open(ctx context.Context, cfg Config) (front http.Handler, err error) {
	engine, err := s.startData(ctx)
	if err != nil {
		return nil, err
	}
	settings, api, err := s.endpoints(engine, cfg)
	if err != nil {
		return nil, err
	}
	parameters := map[string]string{"PublicBaseUrl": s.URL}
	maps.Copy(parameters, cfg.Parameters)
	if s.deployment, err = deploy(cfg.Builder, parameters, settings); err != nil {
		return nil, err
	}
	for _, f := range s.functions {
		api[f.name] = f
	}
	return gateway.New(gateway.API{
		Routes: s.routes, Authorizer: s.authorizer, PublicBaseURL: s.URL, Stage: s.stage, Region: region, AccountID: accountID,
		CORSOrigins: words(parameters["AllowedOrigins"]),
		RequestID:   uuid.NewString, Now: time.Now,
	})
}

// words takes a list of the template apart.
func words(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// startData starts the engine with the demo data in it.
func (s *System) startData(ctx context.Context) (endpoint string, err error) {
	engine, err := dynamotest.Launch("127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.closers = append(s.closers, engine.Stop)
	s.Conn = dynamo.Conn{API: seed.Client(engine.Endpoint), Tables: tables}
	if err := dynamotest.CreateTables(ctx, s.Conn.API, tables); err != nil {
		return "", err
	}
	s.Access, err = seed.Demo(ctx, s.Conn, time.Now())
	return engine.Endpoint, err
}

// endpoints starts what functions reach by address, and returns the settings that say where.
func (s *System) endpoints(engine string, cfg Config) (map[string]string, invokeAPI, error) {
	if cfg.Between != nil {
		proxy, err := proxyTo(engine)
		if err != nil {
			return nil, nil, err
		}
		if engine, err = s.listen(cfg.Between(proxy)); err != nil {
			return nil, nil, err
		}
	}
	api := invokeAPI{}
	lambda, err := s.listen(api)
	if err != nil {
		return nil, nil, err
	}
	settings := map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": engine,
		"AWS_ENDPOINT_URL_LAMBDA":   lambda,
		"AWS_REGION":                region,
		"AWS_ACCESS_KEY_ID":         seed.Key,
		"AWS_SECRET_ACCESS_KEY":     seed.Key,
	}
	for name, value := range cfg.Settings {
		settings[name] = value
	}
	return settings, api, nil
}

// listen serves on a loopback port until Close.
func (s *System) listen(h http.Handler) (url string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.serve(listener, h)
	return "http://" + listener.Addr().String(), nil
}

func (s *System) serve(listener net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	s.closers = append(s.closers, func() error {
		err := server.Close()
		if end := <-served; !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("serve: %w", end))
		}
		return err
	})
}

// Close stops everything that was started, and waits until it has stopped.
func (s *System) Close() error {
	var err error
	if s.deployment != nil {
		for _, f := range s.functions {
			err = errors.Join(err, f.close())
		}
		s.deployment = nil
	}
	for i := len(s.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, s.closers[i]())
	}
	s.closers = nil
	return err
}
