package main

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type Spec struct {
	Description string `json:"description,omitempty"`
	Metadata    string `json:"metadata,omitempty"`
	Region      string `json:"region,omitempty"`
}

type Status struct {
	ID                 string             `json:"id,omitempty"`
	URI                string             `json:"uri,omitempty"`
	Addr               string             `json:"addr,omitempty"`
	Region             string             `json:"region,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type ReservedAddr struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec   `json:"spec,omitempty"`
	Status            Status `json:"status,omitempty"`
}

type ReservedAddrList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ReservedAddr `json:"items"`
}

func (s *Status) show(observed *object, generation int64) {
	s.ID, s.URI, s.Addr, s.Region = observed.ID, observed.URI, observed.Addr, observed.Region
	s.ObservedGeneration = generation
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type:               "Ready",
		Status:             metav1.ConditionTrue,
		Reason:             "Available",
		Message:            "reserved address " + observed.ID + " is as the spec asks",
		ObservedGeneration: generation,
	})
}

func (s *Status) equals(other *Status) bool { return reflect.DeepEqual(s, other) }

func (a *ReservedAddr) DeepCopy() *ReservedAddr {
	out := *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), a.Status.Conditions...)
	return &out
}

func (a *ReservedAddr) DeepCopyObject() runtime.Object { return a.DeepCopy() }

func (l *ReservedAddrList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]ReservedAddr, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopy()
	}
	return &out
}

func register(scheme *runtime.Scheme) {
	version := schema.GroupVersion{Group: "edge-operator.dev", Version: "v1alpha1"}
	scheme.AddKnownTypes(version, &ReservedAddr{}, &ReservedAddrList{})
	metav1.AddToGroupVersion(scheme, version)
}
