package main

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ask sends a request and gives status and body, as they travel.
func ask(t *testing.T, a *api, r request) (int, map[string]any) {
	t.Helper()
	answer := a.answer(r)
	data, err := json.Marshal(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return answer.Status, body
}

func apiWith(t *testing.T, names ...string) *api {
	t.Helper()
	a := newAPI(newStore())
	for _, name := range names {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}
		if err := a.store.Create(background, n); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func namesIn(body map[string]any) []string {
	var names []string
	for _, item := range body["items"].([]any) {
		names = append(names, item.(map[string]any)["metadata"].(map[string]any)["name"].(string))
	}
	return names
}

func TestAListHasPages(t *testing.T) {
	a := apiWith(t, "c", "a", "b")
	_, page := ask(t, a, request{Method: "GET", Path: "/api/v1/nodes", Query: map[string]string{"limit": "2"}})
	equal(t, "first page", namesIn(page), []string{"a", "b"})
	next := page["metadata"].(map[string]any)["continue"].(string)
	_, page = ask(t, a, request{Method: "GET", Path: "/api/v1/nodes", Query: map[string]string{"limit": "2", "continue": next}})
	equal(t, "second page", namesIn(page), []string{"c"})
	equal(t, "continue", page["metadata"].(map[string]any)["continue"], nil)
}

func TestSelectorsChooseObjects(t *testing.T) {
	a := apiWith(t, "a", "b")
	for query, want := range map[string][]string{"name in (b)": {"b"}, "name,name notin (b)": {"a"}, "!name": nil} {
		_, body := ask(t, a, request{Method: "GET", Path: "/api/v1/nodes", Query: map[string]string{"labelSelector": query}})
		equal(t, query, namesIn(body), want)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: corev1.PodSpec{NodeName: "a"}}
	must(a.store.Create(background, pod))
	pods := func(selector string) (int, map[string]any) {
		return ask(t, a, request{Method: "GET", Path: "/api/v1/pods", Query: map[string]string{"fieldSelector": selector}})
	}
	_, body := pods("spec.nodeName=a,status.phase!=Succeeded")
	equal(t, "pods on the node", namesIn(body), []string{"p"})
	status, _ := pods("spec.unknown=a")
	equal(t, "an unknown field", status, 400)
}

func TestMetadataAlone(t *testing.T) {
	a := apiWith(t, "a")
	accept := "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	_, body := ask(t, a, request{Method: "GET", Path: "/api/v1/nodes", Accept: accept})
	equal(t, "kind", body["kind"], "PartialObjectMetadataList")
	equal(t, "status of a node", body["items"].([]any)[0].(map[string]any)["status"], nil)
}

func TestAPatchIsRefusedAsAWholeUnlessItsTestsHold(t *testing.T) {
	a := apiWith(t, "a")
	patch := func(body string) (int, map[string]any) {
		return ask(t, a, request{Method: "PATCH", Path: "/api/v1/nodes/a", Body: []byte(body)})
	}
	mark := `[{"op":"test","path":"/metadata/labels/held","value":null},{"op":"add","path":"/metadata/labels/held","value":"h"}]`
	status, body := patch(mark)
	equal(t, "status", status, 200)
	equal(t, "label", body["metadata"].(map[string]any)["labels"], map[string]string{"held": "h", "name": "a"})
	status, body = patch(mark)
	equal(t, "the second time", []any{status, body["kind"], body["reason"]}, []any{422, "Status", "Invalid"})
	equal(t, "causes", body["details"].(map[string]any)["causes"], nil)
	status, _ = patch(`[{"op":"remove","path":"/metadata/labels/none"}]`)
	equal(t, "an absent key", status, 422)
}

func TestWhatIsNotThereIs404(t *testing.T) {
	a := apiWith(t)
	status, body := ask(t, a, request{Method: "GET", Path: "/api/v1/nodes/none"})
	equal(t, "an object", []any{status, body["details"].(map[string]any)["name"]}, []any{404, "none"})
	status, body = ask(t, a, request{Method: "GET", Path: "/apis/karpenter.sh/v1beta1/nodeclaims"})
	equal(t, "a kind", []any{status, body["details"].(map[string]any)["name"]}, []any{404, nil})
}
