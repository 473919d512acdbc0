// Says how the tools of GitOps read objects: the status that kstatus computes (Flux, kpt, kubectl's wait rules), and
// the health that a script gives in the interpreter and with the libraries that Argo CD gives it.
//
// Usage: health SCRIPT < objects.json, where the objects are a JSON array. Prints an array of the same length.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type reading struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type readings struct {
	Kstatus reading `json:"kstatus"`
	Argo    reading `json:"argo"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: health SCRIPT < objects.json")
	}
	script, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var objects []map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	read := make([]readings, 0, len(objects))
	for i, object := range objects {
		one, err := readObject(object, string(script))
		if err != nil {
			return fmt.Errorf("object %d: %w", i, err)
		}
		read = append(read, one)
	}
	return json.NewEncoder(os.Stdout).Encode(read)
}

func readObject(object map[string]any, script string) (readings, error) {
	bytes, err := json.Marshal(object)
	if err != nil {
		return readings{}, err
	}
	// By way of its own decoder, so that integers are what a client of the API has.
	decoded := &unstructured.Unstructured{}
	if err := decoded.UnmarshalJSON(bytes); err != nil {
		return readings{}, err
	}
	computed, err := status.Compute(decoded)
	if err != nil {
		return readings{}, fmt.Errorf("kstatus: %w", err)
	}
	argo, err := runScript(decoded.Object, script)
	if err != nil {
		return readings{}, fmt.Errorf("script: %w", err)
	}
	return readings{Kstatus: reading{string(computed.Status), computed.Message}, Argo: argo}, nil
}

// As Argo CD runs a health check whose useOpenLibs is not set: no string, io or math library, and one second.
func runScript(object map[string]any, script string) (reading, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return reading{}, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", toLua(state, object))
	if err := state.DoString(script); err != nil {
		return reading{}, err
	}
	result, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return reading{}, fmt.Errorf("returned %s, not a table", state.Get(-1).Type())
	}
	return reading{lua.LVAsString(result.RawGetString("status")), lua.LVAsString(result.RawGetString("message"))}, nil
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch typed := value.(type) {
	case bool:
		return lua.LBool(typed)
	case float64:
		return lua.LNumber(typed)
	case int64:
		return lua.LNumber(typed)
	case string:
		return lua.LString(typed)
	case []any:
		table := state.CreateTable(len(typed), 0)
		for _, item := range typed {
			table.Append(toLua(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(typed))
		for key, item := range typed {
			table.RawSetString(key, toLua(state, item))
		}
		return table
	default:
		return lua.LNil
	}
}
