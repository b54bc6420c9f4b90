package e2e

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A manifest is the part of Kubernetes' objects that ops/kubernetes.yaml uses. Other fields are errors.
type manifest struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   manifestMeta
	Spec       struct {
		ClusterIP                string `yaml:"clusterIP"`
		PublishNotReadyAddresses bool   `yaml:"publishNotReadyAddresses"`
		Selector                 map[string]any
		Ports                    []struct {
			Name       string
			Port       int
			TargetPort string `yaml:"targetPort"`
		}
		ServiceName         string `yaml:"serviceName"`
		Replicas            int
		PodManagementPolicy string `yaml:"podManagementPolicy"`
		Template            struct {
			Metadata manifestMeta
			Spec     struct {
				AutomountServiceAccountToken  *bool          `yaml:"automountServiceAccountToken"`
				TerminationGracePeriodSeconds int            `yaml:"terminationGracePeriodSeconds"`
				SecurityContext               map[string]any `yaml:"securityContext"`
				Containers                    []struct {
					Name, Image string
					Args        []string
					Env         []struct {
						Name      string
						ValueFrom map[string]map[string]string `yaml:"valueFrom"`
					}
					Ports           []map[string]any
					StartupProbe    map[string]any `yaml:"startupProbe"`
					LivenessProbe   map[string]any `yaml:"livenessProbe"`
					Resources       map[string]map[string]string
					SecurityContext map[string]any      `yaml:"securityContext"`
					VolumeMounts    []map[string]string `yaml:"volumeMounts"`
				}
				Volumes []map[string]any
			}
		}
	}
}

type manifestMeta struct {
	Name                string
	Labels, Annotations map[string]string
}

// TestKubernetes reads the manifests for Kubernetes, and crawls with the arguments of their container.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("ops/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []manifest
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		d.KnownFields(true)
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	if len(all) != 2 || all[0].Kind != "Service" || all[1].Kind != "StatefulSet" {
		t.Fatalf("got %d objects, want a Service and a StatefulSet", len(all))
	}
	service, set := all[0], all[1]
	pod := set.Spec.Template
	app := pod.Metadata.Labels["app"]
	if labels, _ := set.Spec.Selector["matchLabels"].(map[string]any); app == "" || service.Spec.Selector["app"] != app || labels["app"] != app {
		t.Errorf("the selectors %v and %v do not select %v", service.Spec.Selector, set.Spec.Selector, pod.Metadata.Labels)
	}
	if set.Spec.ServiceName != service.Metadata.Name || set.Spec.Replicas != 3 || len(pod.Spec.Containers) != 1 {
		t.Fatalf("%d replicas of %d containers, behind %q", set.Spec.Replicas, len(pod.Spec.Containers), set.Spec.ServiceName)
	}
	c := pod.Spec.Containers[0]
	if c.SecurityContext["readOnlyRootFilesystem"] != true || pod.Spec.SecurityContext["runAsNonRoot"] != true || c.StartupProbe == nil || c.LivenessProbe == nil || c.Resources["limits"]["memory"] == "" {
		t.Error("a probe, a limit or a security setting is missing")
	}
	values := []string{"0.0.0.0:9464", "127.0.0.1:0"}
	for _, e := range c.Env {
		value := map[string]string{"POD": "skink-0", "ADDRESS": "10.0.0.1", "SEED": exampleSite(t, "kubernetes") + "/"}[e.Name]
		values = append(values, "$("+e.Name+")", value)
	}
	args := strings.Split(strings.NewReplacer(values...).Replace(strings.Join(c.Args, "\n")), "\n")
	crawl := exec.Command("skink", append(args, "--delay=0")...)
	crawl.Dir = t.TempDir()
	crawl.Env = append(os.Environ(), "SKINK_STORE="+t.TempDir())
	if out, err := crawl.CombinedOutput(); err != nil || strings.Contains(string(out), "$(") {
		t.Errorf("skink %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
