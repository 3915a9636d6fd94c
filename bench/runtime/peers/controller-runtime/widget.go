package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "controller-runtime.bench.berth.dev", Version: "v1"}

// Widget is the custom resource. Its copying is written by hand, as a generator would write it.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec"`
	Status            WidgetStatus `json:"status,omitempty"`
}

// WidgetSpec says what the Pod shall run.
type WidgetSpec struct {
	Image string `json:"image"`
}

// WidgetStatus is there because custom resources have one; nobody writes it here.
type WidgetStatus struct {
	PodName string `json:"podName,omitempty"`
}

// WidgetList is what the API server answers to a list.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (widget *Widget) DeepCopyObject() runtime.Object {
	copied := *widget
	widget.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

// DeepCopyObject implements runtime.Object.
func (list *WidgetList) DeepCopyObject() runtime.Object {
	copied := *list
	list.ListMeta.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]Widget, len(list.Items))
	for index := range list.Items {
		copied.Items[index] = *(list.Items[index].DeepCopyObject().(*Widget))
	}
	return &copied
}
