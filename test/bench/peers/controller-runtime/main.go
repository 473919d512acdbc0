// The ReservedAddr of this project reconciled in the plainest way of controller-runtime, to measure beside the operator:
// observe, create or update, write the status, and trust the cache. No budget, no record of a create that is under way,
// no ownership. The client is not throttled.
//
// Usage: controller-runtime KUBECONFIG CLOUD_URL API_KEY CONCURRENCY
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "edge-operator.dev/external-resource"

type reconciler struct {
	client.Client
	cloud *cloud
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var addr ReservedAddr
	if err := r.Get(ctx, request.NamespacedName, &addr); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !addr.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.remove(ctx, &addr)
	}
	if controllerutil.AddFinalizer(&addr, finalizer) {
		if err := r.Update(ctx, &addr); err != nil {
			return ctrl.Result{}, err
		}
	}
	observed, err := r.ensure(ctx, &addr)
	if err != nil {
		return ctrl.Result{}, err
	}
	before := addr.DeepCopy()
	addr.Status.show(observed, addr.Generation)
	if before.Status.equals(&addr.Status) {
		return ctrl.Result{RequeueAfter: time.Hour}, nil
	}
	return ctrl.Result{RequeueAfter: time.Hour}, r.Status().Update(ctx, &addr)
}

func (r *reconciler) ensure(ctx context.Context, addr *ReservedAddr) (*object, error) {
	if addr.Status.ID == "" {
		return r.cloud.create(ctx, addr.Spec)
	}
	observed, err := r.cloud.get(ctx, addr.Status.ID)
	if err != nil {
		return nil, err
	}
	if observed == nil {
		return r.cloud.create(ctx, addr.Spec)
	}
	if observed.Description != addr.Spec.Description || observed.Metadata != addr.Spec.Metadata {
		return r.cloud.update(ctx, addr.Status.ID, addr.Spec)
	}
	return observed, nil
}

func (r *reconciler) remove(ctx context.Context, addr *ReservedAddr) error {
	if addr.Status.ID != "" {
		if err := r.cloud.delete(ctx, addr.Status.ID); err != nil {
			return err
		}
	}
	if !controllerutil.RemoveFinalizer(addr, finalizer) {
		return nil
	}
	return client.IgnoreNotFound(r.Update(ctx, addr))
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 5 {
		return fmt.Errorf("usage: controller-runtime KUBECONFIG CLOUD_URL API_KEY CONCURRENCY")
	}
	log.SetLogger(zap.New())
	concurrency, err := strconv.Atoi(os.Args[4])
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		return err
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	register(scheme)
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&ReservedAddr{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(&reconciler{Client: manager.GetClient(), cloud: newCloud(os.Args[2], os.Args[3])})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
