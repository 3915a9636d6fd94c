// An operator on controller-runtime: a Pod for every Widget.
//
// Tuned for throughput: 64 reconcilers instead of one, no limit on requests, no managed fields in the cache. The
// Widget is a typed struct; Pods travel as protobuf, as controller-runtime does by itself for built-in kinds. There is
// no leader election, and no metrics endpoint, since operators that run side by side would want the same port.
package main

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	namespace  = "bench-controller-runtime"
	reconciles = 64
)

func main() {
	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	scheme.AddKnownTypes(groupVersion, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, groupVersion)

	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
		},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&Widget{}).
		Owns(&corev1.Pod{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: reconciles}).
		Complete(&reconciler{client: manager.GetClient(), scheme: scheme})
	if err != nil {
		return err
	}
	go tellWhenReady(ctx, manager.GetCache())
	return manager.Start(ctx)
}

type reconciler struct {
	client client.Client
	scheme *runtime.Scheme
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var widget Widget
	if err := r.client.Get(ctx, request.NamespacedName, &widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var present corev1.Pod
	err := r.client.Get(ctx, request.NamespacedName, &present)
	if client.IgnoreNotFound(err) != nil || err == nil {
		return ctrl.Result{}, err
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: widget.Name, Namespace: widget.Namespace},
		Spec: corev1.PodSpec{
			SchedulerName: "none",
			Containers:    []corev1.Container{{Name: "main", Image: widget.Spec.Image}},
		},
	}
	if err := ctrl.SetControllerReference(&widget, pod, r.scheme); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, client.IgnoreAlreadyExists(r.client.Create(ctx, pod))
}

// tellWhenReady prints "ready" once the controller's informers, which these calls wait for, are synced.
func tellWhenReady(ctx context.Context, informers cache.Cache) {
	for _, object := range []client.Object{&Widget{}, &corev1.Pod{}} {
		if _, err := informers.GetInformer(ctx, object); err != nil {
			return // the manager is ending, and reports why
		}
	}
	fmt.Println("ready")
}
