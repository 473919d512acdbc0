package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

type object struct {
	ID          string `json:"id"`
	URI         string `json:"uri"`
	Addr        string `json:"addr"`
	Region      string `json:"region"`
	Description string `json:"description"`
	Metadata    string `json:"metadata"`
}

// The calls of the Cloud Management API that a ReservedAddr needs.
type cloud struct {
	url, key string
	http     http.Client
}

func newCloud(url, key string) *cloud {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	return &cloud{url: url, key: key, http: http.Client{Timeout: 30 * time.Second, Transport: transport}}
}

func (c *cloud) create(ctx context.Context, spec Spec) (*object, error) {
	return c.call(ctx, http.MethodPost, "", spec)
}

// Without an error, nil says that there is none.
func (c *cloud) get(ctx context.Context, id string) (*object, error) {
	return c.call(ctx, http.MethodGet, "/"+id, nil)
}

func (c *cloud) update(ctx context.Context, id string, spec Spec) (*object, error) {
	body := map[string]string{"description": spec.Description, "metadata": spec.Metadata}
	return c.call(ctx, http.MethodPatch, "/"+id, body)
}

func (c *cloud) delete(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, "/"+id, nil)
	return err
}

func (c *cloud) call(ctx context.Context, method, path string, body any) (*object, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+"/reserved_addrs"+path, sent)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Service-Version", "2")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusNotFound {
		return nil, nil
	}
	if response.StatusCode >= 300 {
		return nil, fmt.Errorf("%s reserved_addrs%s: %d %s", method, path, response.StatusCode, text)
	}
	if response.StatusCode == http.StatusNoContent {
		return nil, nil
	}
	var observed object
	return &observed, json.Unmarshal(text, &observed)
}
