package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// api answers requests as a Kubernetes API server does. Whoever asks may do everything.
type api struct {
	store   *store
	encoded map[types.UID]encoding
}

// request is one call of the holder; an answer has the same id.
type request struct {
	ID     int64             `json:"id"`
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Query  map[string]string `json:"query"`
	Accept string            `json:"accept"`
	Body   json.RawMessage   `json:"body"`
}

type response struct {
	ID     int64 `json:"id"`
	Status int   `json:"status"`
	Body   any   `json:"body"`
}

func newAPI(s *store) *api {
	return &api{store: s, encoded: map[types.UID]encoding{}}
}

func (a *api) answer(r request) response {
	status, body, err := a.handle(r)
	if err != nil {
		s := statusOf(err)
		return response{r.ID, int(s.Code), s}
	}
	return response{r.ID, status, body}
}

// statusOf is an error as the API server sends it.
func statusOf(err error) metav1.Status {
	known, ok := err.(errors.APIStatus)
	if !ok {
		known = errors.NewInternalError(err)
	}
	s := known.Status()
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	s.Status = metav1.StatusFailure
	return s
}

// target is what the path of a request names.
type target struct {
	kind
	namespace, name string
}

func (a *api) handle(r request) (int, any, error) {
	t, ok := targetOf(r.Path)
	if !ok {
		return 0, nil, errors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "", "404 page not found", 0, true)
	}
	switch {
	case r.Method == http.MethodGet && t.name == "":
		list, err := a.list(t, r)
		return http.StatusOK, list, err
	case r.Method == http.MethodGet:
		obj, err := a.find(t)
		if err != nil {
			return 0, nil, err
		}
		return http.StatusOK, a.encode(t.kind, obj, wantsMetadata(r)), nil
	case r.Method == http.MethodPatch && t.name != "":
		changed, err := a.patch(t, r)
		return http.StatusOK, changed, err
	}
	return 0, nil, errors.NewMethodNotSupported(t.groupResource(), strings.ToLower(r.Method))
}

// targetOf reads a path like /api/v1/nodes/NAME or /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME.
func targetOf(path string) (target, bool) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	group := ""
	switch {
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = parts[1], parts[2:]
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[1:]
	default:
		return target{}, false
	}
	t := target{}
	version, rest := parts[0], parts[1:]
	if rest[0] == "namespaces" && len(rest) > 2 {
		t.namespace, rest = rest[1], rest[2:]
	}
	if len(rest) > 2 {
		return target{}, false // subresources are not served
	}
	if len(rest) == 2 {
		t.name = rest[1]
	}
	for _, k := range kinds {
		if k.group == group && k.version == version && k.resource == rest[0] {
			t.kind = k
			return t, true
		}
	}
	return target{}, false
}

func (a *api) find(t target) (client.Object, error) {
	a.store.mu.RLock()
	defer a.store.mu.RUnlock()
	found := a.store.tables[t.of].get(types.NamespacedName{Namespace: t.namespace, Name: t.name})
	if found == nil {
		return nil, errors.NewNotFound(t.groupResource(), t.name)
	}
	return found, nil
}
