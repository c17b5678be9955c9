package objects

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket keeps objects in a bucket, under a prefix.
type bucket struct {
	client *minio.Client
	name   string
	prefix string
}

// amazon is the endpoint where none is given.
const amazon = "https://s3.amazonaws.com"

func openBucket(p Place) (Store, error) {
	endpoint := p.Endpoint
	if endpoint == "" {
		endpoint = amazon
	}
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil || at.Path != "" && at.Path != "/" {
		return nil, fmt.Errorf("endpoint %q: expected https://host or http://host:port", p.Endpoint)
	}
	client, err := minio.New(at.Host, &minio.Options{
		Creds: keys(p), Secure: at.Scheme == "https", Region: p.Region,
		MaxRetries: 1, // whoever stores tries again, and says so
	})
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", p.Endpoint, err)
	}
	prefix := p.Prefix
	if prefix != "" {
		prefix += "/"
	}
	return bucket{client, p.Bucket, prefix}, nil
}

// keys are those of the place, or what the machine gives.
func keys(p Place) *credentials.Credentials {
	if p.AccessKey != "" {
		return credentials.NewStaticV4(p.AccessKey, p.SecretKey, "")
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		new(credentials.EnvAWS), new(credentials.FileAWSCredentials), new(credentials.IAM),
	})
}

// Put implements [Store]. A PUT replaces an object at once or not at all.
func (b bucket) Put(ctx context.Context, name string, body []byte) error {
	return b.put(ctx, name, body, minio.PutObjectOptions{})
}

func (b bucket) put(ctx context.Context, name string, body []byte, how minio.PutObjectOptions) error {
	how.ContentType, how.DisableMultipart = "application/gzip", true
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(body), int64(len(body)), how)
	return err
}

// Create implements [Store].
func (b bucket) Create(ctx context.Context, name string, body []byte) (bool, error) {
	var absent minio.PutObjectOptions
	absent.SetMatchETagExcept("*")
	err := b.put(ctx, name, body, absent)
	switch said := minio.ToErrorResponse(err); {
	case err == nil:
		return true, nil
	case said.Code == minio.PreconditionFailed, said.StatusCode == http.StatusPreconditionFailed:
		return false, nil
	case said.Code == minio.NotImplemented, said.StatusCode == http.StatusNotImplemented:
		err = b.Put(ctx, name, body)
	}
	return err == nil, err
}

// Get implements [Store].
func (b bucket) Get(ctx context.Context, name string) (body []byte, there bool, err error) {
	object, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = object.Close() }()
	body, err = io.ReadAll(object)
	if absent(err) {
		return nil, false, nil
	}
	return body, err == nil, err
}

// Has implements [Store].
func (b bucket) Has(ctx context.Context, name string) (bool, error) {
	_, err := b.client.StatObject(ctx, b.name, b.prefix+name, minio.StatObjectOptions{})
	if absent(err) {
		return false, nil
	}
	return err == nil, err
}

// List implements [Store].
func (b bucket) List(ctx context.Context, dir string) (all []Entry, err error) {
	if dir = strings.TrimSuffix(dir, "/"); dir != "" {
		dir += "/"
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // or the client would go on listing after an error
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + dir}) {
		if o.Err != nil {
			return nil, o.Err
		}
		all = append(all, Entry{Name: strings.TrimPrefix(o.Key, b.prefix), Modified: o.LastModified})
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// absent reports whether there is no such object. That there is no such bucket is an error.
func absent(err error) bool {
	if err == nil {
		return false
	}
	said := minio.ToErrorResponse(err)
	return said.Code == minio.NoSuchKey || said.StatusCode == http.StatusNotFound && said.Code != minio.NoSuchBucket
}
