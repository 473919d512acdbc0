// Dockerfile prints as JSON what BuildKit makes of CONTEXT/Dockerfile and CONTEXT/.dockerignore: the warnings of its
// linter, the stages with their instructions, and which files of the context it would send.
package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

type command struct {
	Name string `json:"name"`
	// Such as the sources and the destination of a COPY, or the command line of a RUN.
	Args []string `json:"args"`
	// Stage that a COPY copies from.
	From string `json:"from"`
	// The command line is one for a shell.
	Shell bool `json:"shell"`
}

type stage struct {
	Name     string    `json:"name"`
	Base     string    `json:"base"`
	Platform string    `json:"platform"`
	Commands []command `json:"commands"`
}

type report struct {
	Warnings []string `json:"warnings"`
	Args     []string `json:"args"`
	Stages   []stage  `json:"stages"`
	Context  []string `json:"context"`
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: dockerfile CONTEXT"))
	}
	result, err := read(os.Args[1])
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func read(dir string) (*report, error) {
	file, err := os.Open(filepath.Join(dir, "Dockerfile"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		return nil, err
	}
	result := &report{Warnings: []string{}, Stages: []stage{}, Context: []string{}, Args: []string{}}
	for _, warning := range parsed.Warnings {
		result.Warnings = append(result.Warnings, warning.Short)
	}
	lint := linter.New(&linter.Config{
		Warn: func(rule, _, _, message string, _ []parser.Range) {
			result.Warnings = append(result.Warnings, rule+": "+message)
		},
	})
	stages, args, err := instructions.Parse(parsed.AST, lint)
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		result.Args = append(result.Args, arg.String())
	}
	for _, each := range stages {
		result.Stages = append(result.Stages, stageOf(each))
	}
	result.Context, err = contextOf(dir)
	return result, err
}

func stageOf(each instructions.Stage) stage {
	found := stage{Name: each.Name, Base: each.BaseName, Platform: each.Platform, Commands: []command{}}
	for _, one := range each.Commands {
		found.Commands = append(found.Commands, commandOf(one))
	}
	return found
}

func commandOf(one instructions.Command) command {
	made := command{Name: one.Name(), Args: []string{}}
	switch typed := one.(type) {
	case *instructions.CopyCommand:
		made.Args = append(append(made.Args, typed.SourcePaths...), typed.DestPath)
		made.From = typed.From
	case *instructions.RunCommand:
		made.Args, made.Shell = typed.CmdLine, typed.PrependShell
	case *instructions.EntrypointCommand:
		made.Args, made.Shell = typed.CmdLine, typed.PrependShell
	case *instructions.CmdCommand:
		made.Args, made.Shell = typed.CmdLine, typed.PrependShell
	case *instructions.WorkdirCommand:
		made.Args = []string{typed.Path}
	case *instructions.UserCommand:
		made.Args = []string{typed.User}
	case *instructions.EnvCommand:
		made.Args = pairs(typed.Env)
	case *instructions.LabelCommand:
		made.Args = pairs(typed.Labels)
	}
	return made
}

func pairs(given instructions.KeyValuePairs) []string {
	list := []string{}
	for _, pair := range given {
		list = append(list, pair.Key+"="+pair.Value)
	}
	return list
}

func contextOf(dir string) ([]string, error) {
	file, err := os.Open(filepath.Join(dir, ".dockerignore"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	patterns, err := ignorefile.ReadAll(file)
	if err != nil {
		return nil, err
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		return nil, err
	}
	sent := []string{}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if err != nil || (entry.IsDir() && (name == ".git" || name == "node_modules")) {
			return firstOf(err, filepath.SkipDir)
		}
		if entry.IsDir() {
			return nil
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		ignored, err := matcher.MatchesOrParentMatches(relative)
		if err == nil && !ignored {
			sent = append(sent, relative)
		}
		return err
	})
	return sent, err
}

func firstOf(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
