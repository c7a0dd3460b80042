package main

import (
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const metadataVersion = "meta.k8s.io/v1"

func wantsMetadata(r request) bool { return strings.Contains(r.Accept, "as=PartialObjectMetadata") }

// encoding is the JSON of an object, kept because most objects do not change between two lists.
type encoding struct {
	version        string
	full, metadata json.RawMessage
}

// mostEncodings bounds what is kept of objects that are gone.
const mostEncodings = 10_000

// encode is an object, or its metadata, as JSON. In a list it has no kind.
func (a *api) encode(k kind, obj client.Object, isMetadata bool) any {
	e := a.encodings(obj)
	if isMetadata {
		return e.metadata
	}
	if k.name == "" {
		return e.full
	}
	head, _ := json.Marshal(metav1.TypeMeta{Kind: k.name, APIVersion: k.apiVersion()})
	return json.RawMessage(string(head[:len(head)-1]) + "," + string(e.full[1:]))
}

func (a *api) encodings(obj client.Object) encoding {
	e, isKnown := a.encoded[obj.GetUID()]
	if isKnown && e.version == obj.GetResourceVersion() {
		return e
	}
	e.version = obj.GetResourceVersion()
	e.full, e.metadata = a.encodeAnew(obj)
	if len(a.encoded) >= mostEncodings {
		clear(a.encoded)
	}
	a.encoded[obj.GetUID()] = e
	return e
}

func (a *api) encodeAnew(obj client.Object) (full, metadata json.RawMessage) {
	copied := obj.DeepCopyObject().(client.Object)
	value := reflect.ValueOf(copied).Elem()
	value.FieldByName("TypeMeta").SetZero()
	partial := metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: metadataVersion},
		ObjectMeta: value.FieldByName("ObjectMeta").Interface().(metav1.ObjectMeta),
	}
	full, err := json.Marshal(copied)
	must(err)
	metadata, err = json.Marshal(partial)
	must(err)
	return full, metadata
}
