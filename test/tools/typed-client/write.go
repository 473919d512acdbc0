package main

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const protobuf = "application/vnd.kubernetes.protobuf"

var plurals = map[string]string{"NetworkPolicy": "networkpolicies"}

// What a field holds that is not full: those of which the API admits only some values, and those the server writes.
var fixed = map[string]any{
	"ObjectMeta.name": "full", "ObjectMeta.generateName": "", "ObjectMeta.namespace": "default",
	"ObjectMeta.selfLink": "", "ObjectMeta.uid": "", "ObjectMeta.resourceVersion": "", "ObjectMeta.generation": 0,
	"ObjectMeta.creationTimestamp": nil, "ObjectMeta.deletionTimestamp": nil,
	"ObjectMeta.deletionGracePeriodSeconds": nil, "ObjectMeta.managedFields": nil,
}

func clientOf(kubeconfig string, group schema.GroupVersion) (*rest.RESTClient, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.GroupVersion = &group
	config.APIPath = "/apis"
	if group.Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.ContentType = protobuf
	config.AcceptContentTypes = protobuf + ",application/json"
	return rest.RESTClientFor(config)
}

// Paths in JSON of what was sent and did not come back, by type.
func write(kubeconfig string) (map[string][]string, error) {
	all := map[string][]string{}
	for name, object := range objects {
		if name == "DeleteOptions" {
			continue
		}
		lost, err := writeOne(kubeconfig, name, reflect.TypeOf(object))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = lost
	}
	return all, nil
}

func writeOne(kubeconfig, name string, goType reflect.Type) ([]string, error) {
	at := strings.LastIndex(name, "/")
	group, err := schema.ParseGroupVersion(name[:at])
	if err != nil {
		return nil, err
	}
	value := reflect.New(goType)
	fill(value.Elem(), 0)
	object := value.Interface().(runtime.Object)
	accessor := object.(meta.Object)
	kind := name[at+1:]
	isNamespaced := kind != "Namespace" && !strings.HasPrefix(kind, "Cluster")
	// Both kinds of events are stored in one place, where finalizers hold the first.
	full := strings.ToLower(strings.ReplaceAll(name, "/", "-"))
	accessor.SetName(full)
	if !isNamespaced {
		accessor.SetNamespace("")
	}
	if secret, ok := object.(*core.Secret); ok {
		secret.StringData = nil
	}
	// The same key in both is refused.
	if configMap, ok := object.(*core.ConfigMap); ok {
		configMap.BinaryData = map[string][]byte{"bytes": {0, 255, 7}}
	}
	plural := plurals[kind]
	if plural == "" {
		plural = strings.ToLower(kind) + "s"
	}
	client, err := clientOf(kubeconfig, group)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	of := func(request *rest.Request) *rest.Request {
		return request.NamespaceIfScoped("default", isNamespaced).Resource(plural)
	}
	if err := of(client.Post()).Body(object).Do(ctx).Error(); err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	// Read and written back, as controllers do.
	read := reflect.New(goType)
	kept := read.Interface().(runtime.Object)
	if err := of(client.Get()).Name(full).Do(ctx).Into(kept); err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	kept.(meta.Object).SetLabels(map[string]string{"full": "full", "read": "back"})
	if status := read.Elem().FieldByName("Status"); status.IsValid() {
		status.Set(value.Elem().FieldByName("Status"))
		if err := of(client.Put()).Name(full).SubResource("status").Body(kept).Do(ctx).Into(kept); err != nil {
			return nil, fmt.Errorf("update of the status: %w", err)
		}
		kept.(meta.Object).SetLabels(map[string]string{"full": "full", "read": "back"})
	}
	if err := of(client.Put()).Name(full).Body(kept).Do(ctx).Error(); err != nil {
		return nil, fmt.Errorf("update: %w", err)
	}
	raw, err := of(client.Get()).Name(full).SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	policy := meta.DeletePropagationBackground
	options := &meta.DeleteOptions{PropagationPolicy: &policy}
	if err := of(client.Delete()).Name(full).Body(options).Do(ctx).Error(); err != nil {
		return nil, fmt.Errorf("delete: %w", err)
	}
	return missing(object, raw)
}

func missing(object runtime.Object, raw []byte) ([]string, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var sent, kept any
	if err := json.Unmarshal(text, &sent); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &kept); err != nil {
		return nil, err
	}
	lost := []string{}
	compare("", sent, kept, &lost)
	slices.Sort(lost)
	return lost, nil
}

// Of maps and lists what is sent must be there; more may be.
func compare(path string, sent, kept any, lost *[]string) {
	switch typed := sent.(type) {
	case map[string]any:
		other, _ := kept.(map[string]any)
		for key, value := range typed {
			compare(path+"."+key, value, other[key], lost)
		}
	case []any:
		other, _ := kept.([]any)
		for index, value := range typed {
			var item any
			if index < len(other) {
				item = other[index]
			}
			compare(fmt.Sprintf("%s[%d]", path, index), value, item, lost)
		}
	case nil:
	default:
		if !reflect.DeepEqual(sent, kept) {
			*lost = append(*lost, strings.TrimPrefix(path, "."))
		}
	}
}

// Puts something into every field, messages within themselves but for the fifth time.
func fill(value reflect.Value, depth int) {
	switch typed := value.Addr().Interface().(type) {
	case *meta.Time:
		*typed = meta.Unix(1700000000, 0)
		return
	case *meta.MicroTime:
		*typed = meta.NewMicroTime(time.Unix(1700000000, 123456000))
		return
	case *resource.Quantity:
		*typed = resource.MustParse("1500m")
		return
	case *intstr.IntOrString:
		*typed = intstr.FromString("full")
		return
	case *meta.FieldsV1:
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString("full")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32, reflect.Int64:
		value.SetInt(7)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem(), depth)
	case reflect.Map:
		item := reflect.New(value.Type().Elem()).Elem()
		fill(item, depth)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(reflect.ValueOf("full").Convert(value.Type().Key()), item)
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte{0, 255, 7})
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		fill(value.Index(0), depth)
	case reflect.Struct:
		fillStruct(value, depth)
	}
}

func fillStruct(value reflect.Value, depth int) {
	for index := range value.NumField() {
		field := value.Type().Field(index)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		_, isFixed := fixed[value.Type().Name()+"."+name]
		if field.Type == reflect.TypeFor[meta.TypeMeta]() || depth > 12 || isFixed {
			if text, ok := fixed[value.Type().Name()+"."+name].(string); ok {
				value.Field(index).SetString(text)
			}
			continue
		}
		fill(value.Field(index), depth+1)
	}
}
