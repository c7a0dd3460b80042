package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Terraform's functions that the module calls: the library's where it has them, and the rest as Terraform documents them.
func functions() map[string]function.Function {
	own := map[string]function.Function{
		"can": tryfunc.CanFunc, "try": tryfunc.TryFunc,
		"coalesce": stdlib.CoalesceFunc, "compact": stdlib.CompactFunc, "concat": stdlib.ConcatFunc,
		"contains": stdlib.ContainsFunc, "distinct": stdlib.DistinctFunc, "floor": stdlib.FloorFunc, "join": stdlib.JoinFunc,
		"jsonencode": stdlib.JSONEncodeFunc, "merge": stdlib.MergeFunc, "min": stdlib.MinFunc,
		"regex": stdlib.RegexFunc, "split": stdlib.SplitFunc, "strrev": stdlib.ReverseFunc,
		"substr": stdlib.SubstrFunc, "trimspace": stdlib.TrimSpaceFunc,
		"tonumber": stdlib.MakeToFunc(cty.Number),
		"sha256":   ofText(func(text string) string { return hash([]byte(text)) }),
		"filesha256": ofText(func(path string) string {
			content, err := os.ReadFile(path)
			if err != nil {
				panic(err)
			}
			return hash(content)
		}),
		"strcontains": ofTexts(cty.Bool, func(text []string) cty.Value {
			return cty.BoolVal(strings.Contains(text[0], text[1]))
		}, 2),
		"replace": ofTexts(cty.String, func(text []string) cty.Value {
			if pattern := text[1]; len(pattern) > 1 && pattern[0] == '/' && strings.HasSuffix(pattern, "/") {
				return cty.StringVal(regexp.MustCompile(pattern[1:len(pattern)-1]).ReplaceAllString(text[0], text[2]))
			}
			return cty.StringVal(strings.ReplaceAll(text[0], text[1], text[2]))
		}, 3),
		"length": ofAny(cty.Number, func(value cty.Value) cty.Value {
			if value.Type() == cty.String {
				return cty.NumberIntVal(int64(len(value.AsString())))
			}
			return cty.NumberIntVal(int64(value.LengthInt()))
		}),
		"sum": ofAny(cty.Number, func(value cty.Value) cty.Value {
			sum := cty.Zero
			for _, one := range value.AsValueSlice() {
				sum = sum.Add(one)
			}
			return sum
		}),
		"alltrue": ofAny(cty.Bool, func(value cty.Value) cty.Value {
			all := cty.True
			for _, one := range value.AsValueSlice() {
				all = all.And(one)
			}
			return all
		}),
	}
	own["templatefile"] = templateFile(own)
	return own
}

func hash(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

func ofText(compute func(string) string) function.Function {
	return ofTexts(cty.String, func(text []string) cty.Value { return cty.StringVal(compute(text[0])) }, 1)
}

func ofTexts(kind cty.Type, compute func([]string) cty.Value, count int) function.Function {
	return function.New(&function.Spec{
		Params: texts(count),
		Type:   function.StaticReturnType(kind),
		Impl: func(given []cty.Value, _ cty.Type) (cty.Value, error) {
			words := []string{}
			for _, one := range given {
				words = append(words, one.AsString())
			}
			return compute(words), nil
		},
	})
}

func texts(count int) []function.Parameter {
	parameters := []function.Parameter{}
	for range count {
		parameters = append(parameters, function.Parameter{Name: "text", Type: cty.String})
	}
	return parameters
}

func ofAny(kind cty.Type, compute func(cty.Value) cty.Value) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}},
		Type:   function.StaticReturnType(kind),
		Impl:   func(given []cty.Value, _ cty.Type) (cty.Value, error) { return compute(given[0]), nil },
	})
}

func templateFile(known map[string]function.Function) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{
			{Name: "path", Type: cty.String}, {Name: "values", Type: cty.DynamicPseudoType},
		},
		Type: function.StaticReturnType(cty.String),
		Impl: func(given []cty.Value, _ cty.Type) (cty.Value, error) {
			path := given[0].AsString()
			text, err := os.ReadFile(path)
			if err != nil {
				return cty.NilVal, err
			}
			parsed, problems := hclsyntax.ParseTemplate(text, path, hcl.InitialPos)
			if problems.HasErrors() {
				return cty.NilVal, problems
			}
			filled, problems := parsed.Value(&hcl.EvalContext{Functions: known, Variables: given[1].AsValueMap()})
			if problems.HasErrors() {
				return cty.NilVal, problems
			}
			return filled, nil
		},
	})
}
