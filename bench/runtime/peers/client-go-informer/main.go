// A shared informer of client-go on all Pods of a cluster, filled once.
//
// With the settings that are fairest to it: protobuf (CONTENT_TYPE=json asks for JSON instead), the initial objects on
// the watch itself as client-go does by default, no limit on requests, and no managed fields in the cache. Every Pod is
// decoded completely into its Go struct. Prints one line of JSON and ends.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type result struct {
	// Seconds from the start of the informer until its store has everything.
	Seconds       float64 `json:"seconds"`
	Objects       int     `json:"objects"`
	ResidentBytes int64   `json:"residentBytes"`
}

func run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS = -1
	if os.Getenv("CONTENT_TYPE") == "json" {
		config.ContentType = runtime.ContentTypeJSON
	} else {
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(dropManagedFields))
	informer := factory.Core().V1().Pods().Informer()

	started := time.Now()
	factory.StartWithContext(ctx)
	<-informer.HasSyncedChecker().Done() // a wait of the older kind looks only every 100 ms
	seconds := time.Since(started).Seconds()

	resident, err := residentBytes()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result{seconds, len(informer.GetStore().ListKeys()), resident})
}

func dropManagedFields(object any) (any, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return object, nil // a deletion that was missed carries no object of its own
	}
	accessor.SetManagedFields(nil)
	return object, nil
}

func residentBytes() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(status), "VmRSS:")
	var kilobytes int64
	if _, err := fmt.Sscanf(after, "%d kB", &kilobytes); !found || err != nil {
		return 0, fmt.Errorf("/proc/self/status has no VmRSS: %w", err)
	}
	return kilobytes * 1024, nil
}
