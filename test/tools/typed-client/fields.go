package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	apps "k8s.io/api/apps/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Every type that is read from protobuf, by its apiVersion and kind. DeleteOptions are of every group.
var objects = map[string]any{
	"v1/ConfigMap":                                    core.ConfigMap{},
	"v1/Event":                                        core.Event{},
	"v1/Namespace":                                    core.Namespace{},
	"v1/Secret":                                       core.Secret{},
	"v1/Service":                                      core.Service{},
	"v1/ServiceAccount":                               core.ServiceAccount{},
	"apps/v1/Deployment":                              apps.Deployment{},
	"coordination.k8s.io/v1/Lease":                    coordination.Lease{},
	"events.k8s.io/v1/Event":                          events.Event{},
	"networking.k8s.io/v1/NetworkPolicy":              networking.NetworkPolicy{},
	"policy/v1/PodDisruptionBudget":                   policy.PodDisruptionBudget{},
	"rbac.authorization.k8s.io/v1/ClusterRole":        rbac.ClusterRole{},
	"rbac.authorization.k8s.io/v1/ClusterRoleBinding": rbac.ClusterRoleBinding{},
	"rbac.authorization.k8s.io/v1/Role":               rbac.Role{},
	"rbac.authorization.k8s.io/v1/RoleBinding":        rbac.RoleBinding{},
	"DeleteOptions":                                   meta.DeleteOptions{},
}

// Messages whose JSON is not an object of their fields.
var special = map[reflect.Type]string{
	reflect.TypeFor[meta.Time]():          "Time",
	reflect.TypeFor[meta.MicroTime]():     "MicroTime",
	reflect.TypeFor[meta.FieldsV1]():      "FieldsV1",
	reflect.TypeFor[intstr.IntOrString](): "IntOrString",
	reflect.TypeFor[resource.Quantity]():  "Quantity",
}

var scalars = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "bool", reflect.Int32: "int32", reflect.Int64: "int64",
}

type table struct {
	Objects  map[string]string            `json:"objects"`
	Messages map[string]map[string]string `json:"messages"`
}

// The fields of every message by number, from the tags of Go's types: "<JSON name> [list|map] <type>". An empty name is
// a message whose fields are the outer one's in JSON; a "?" after the name says that a zero value is left out, and
// "list/<name>" that this field of its items is their key.
func fields() (table, error) {
	result := table{map[string]string{}, map[string]map[string]string{}}
	for name, object := range objects {
		message, err := result.typeOf(reflect.TypeOf(object))
		if err != nil {
			return result, fmt.Errorf("%s: %w", name, err)
		}
		result.Objects[name] = message
	}
	return result, nil
}

func (t *table) typeOf(goType reflect.Type) (string, error) {
	if name, ok := special[goType]; ok {
		return name, nil
	}
	if name, ok := scalars[goType.Kind()]; ok {
		return name, nil
	}
	switch goType.Kind() {
	case reflect.Pointer:
		return t.typeOf(goType.Elem())
	case reflect.Map:
		return t.of("map ", goType.Elem())
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "bytes", nil
		}
		return t.of("list ", goType.Elem())
	case reflect.Struct:
		return t.message(goType)
	default:
		return "", fmt.Errorf("no way to read %s", goType)
	}
}

func (t *table) of(prefix string, item reflect.Type) (string, error) {
	name, err := t.typeOf(item)
	return prefix + name, err
}

func (t *table) message(goType reflect.Type) (string, error) {
	path := strings.Split(goType.PkgPath(), "/")
	name := path[len(path)-2] + "." + goType.Name()
	if _, ok := t.Messages[name]; ok {
		return name, nil
	}
	if reflect.PointerTo(goType).Implements(reflect.TypeFor[json.Marshaler]()) {
		return "", fmt.Errorf("%s has a JSON of its own", goType)
	}
	message := map[string]string{}
	t.Messages[name] = message
	for index := range goType.NumField() {
		field := goType.Field(index)
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(tag) < 2 {
			// The envelope holds apiVersion and kind.
			if field.Type == reflect.TypeFor[meta.TypeMeta]() {
				continue
			}
			return "", fmt.Errorf("%s.%s has no protobuf tag", goType, field.Name)
		}
		named, err := t.typeOf(field.Type)
		if err != nil {
			return "", fmt.Errorf("%s.%s: %w", goType, field.Name, err)
		}
		message[tag[1]] = jsonName(field) + " " + strings.Replace(named, "list ", "list"+keysOf(field)+" ", 1)
	}
	return name, nil
}

// By which a patch finds an item of a list, and server-side apply too but where it takes one more: "/name".
func keysOf(field reflect.StructField) string {
	key := field.Tag.Get("patchMergeKey")
	switch key {
	case "":
		return ""
	case "containerPort", "port":
		key += "/protocol"
	case "topologyKey":
		key += "/whenUnsatisfiable"
	}
	return "/" + key
}

func jsonName(field reflect.StructField) string {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	isOptional := strings.Contains(options, "omitempty") && field.Type.Kind() != reflect.Pointer
	if name != "" && isOptional && field.Type.Kind() != reflect.Struct || strings.Contains(options, "omitzero") {
		return name + "?"
	}
	return name
}
