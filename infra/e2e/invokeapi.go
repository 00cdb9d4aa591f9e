package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// invokeAPI emulates one operation of the AWS Lambda API, Invoke, by which functions/mcp calls the
// tools. Source: AWS Lambda API reference, Invoke.
type invokeAPI map[string]*function // by name in AWS

const (
	functionsPath   = "/2015-03-31/functions/"
	invocationsPath = "/invocations"
)

func (api invokeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), functionsPath)
	escaped, ok2 := strings.CutSuffix(path, invocationsPath)
	name, err := url.PathUnescape(escaped)
	if !ok || !ok2 || err != nil || r.Method != http.MethodPost || r.Header.Get("X-Amz-Invocation-Type") != "RequestResponse" {
		refuse(w, http.StatusBadRequest, "InvalidParameterValueException", "only Invoke with RequestResponse is here")
		return
	}
	f, ok := api[name[strings.LastIndexByte(name, ':')+1:]] // a name, or an ARN that ends with it
	if !ok {
		refuse(w, http.StatusNotFound, "ResourceNotFoundException", "Function not found: "+functionARN(name))
		return
	}
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayload+1))
	if err != nil || len(payload) > maxPayload {
		refuse(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException", errTooLarge.Error())
		return
	}
	answer, err := f.Invoke(r.Context(), payload)
	if failed := (*functionError)(nil); errors.As(err, &failed) {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		answer, err = json.Marshal(failed)
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "ServiceException", err.Error())
		return
	}
	w.Header().Set("X-Amz-Executed-Version", "$LATEST")
	_, _ = w.Write(answer) // the caller may have gone
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("X-Amzn-Errortype", kind)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"Type": "User", "Message": message})
}
