// Decides about updates of nodes as the API server of Kubernetes 1.30 does: with its CEL, its limits, and the rule that a
// policy may use only what the version before knows, too. Reads a policy's spec and the updates as JSON, and prints a
// decision each.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
)

type input struct {
	Policy  admissionregistration.ValidatingAdmissionPolicySpec `json:"policy"`
	Updates []struct {
		Object    map[string]any `json:"object"`
		OldObject map[string]any `json:"oldObject"`
		Groups    []string       `json:"groups"`
	} `json:"updates"`
}

var nodes = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
var node = schema.GroupVersionKind{Version: "v1", Kind: "Node"}

func main() {
	var given input
	must(json.NewDecoder(os.Stdin).Decode(&given))
	policy := compile(given.Policy)
	decisions := []string{}
	for _, update := range given.Updates {
		object := &unstructured.Unstructured{Object: update.Object}
		oldObject := &unstructured.Unstructured{Object: update.OldObject}
		who := &user.DefaultInfo{Name: "x", Groups: update.Groups}
		attributes := admission.NewAttributesRecord(object, oldObject, node, "", object.GetName(), nodes, "", admission.Update, nil, false, who)
		versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: node, VersionedObject: object, VersionedOldObject: oldObject}
		result := policy.Validate(context.Background(), nodes, versioned, nil, nil, celconfig.RuntimeCELCostBudget, nil)
		decisions = append(decisions, decisionOf(result.Decisions))
	}
	must(json.NewEncoder(os.Stdout).Encode(decisions))
}

func decisionOf(decisions []validating.PolicyDecision) string {
	if len(decisions) == 0 {
		return "not matched"
	}
	for _, decision := range decisions {
		if decision.Evaluation == validating.EvalError {
			return "error: " + decision.Message
		}
	}
	for _, decision := range decisions {
		if decision.Action == validating.ActionDeny {
			return decision.Message
		}
	}
	return "admitted"
}

// As for a policy that is written now; the server is not as strict with one that it stored earlier.
const mode = environment.NewExpressions

func compile(spec admissionregistration.ValidatingAdmissionPolicySpec) validating.Validator {
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	must(err)
	declared := cel.OptionalVariableDeclarations{HasAuthorizer: true}
	for i := range spec.Variables {
		variable := &validating.Variable{Name: spec.Variables[i].Name, Expression: spec.Variables[i].Expression}
		if failed := compiler.CompileAndStoreVariable(variable, declared, mode).Error; failed != nil {
			must(fmt.Errorf("variable %s: %v", variable.Name, failed))
		}
	}
	conditions := []cel.ExpressionAccessor{}
	for i := range spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&spec.MatchConditions[i]))
	}
	validations := []cel.ExpressionAccessor{}
	for _, one := range spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: one.Expression, Message: one.Message})
	}
	for _, one := range append(append([]cel.ExpressionAccessor{}, conditions...), validations...) {
		if failed := compiler.CompileCELExpression(one, declared, mode).Error; failed != nil {
			must(fmt.Errorf("%s: %v", one.GetExpression(), failed))
		}
	}
	filterOf := func(expressions []cel.ExpressionAccessor) cel.Filter {
		return compiler.Compile(expressions, declared, mode)
	}
	matcher := matchconditions.NewMatcher(filterOf(conditions), spec.FailurePolicy, "policy", "validate", "holder")
	return validating.NewValidator(filterOf(validations), matcher, filterOf(nil), filterOf(nil), spec.FailurePolicy)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
