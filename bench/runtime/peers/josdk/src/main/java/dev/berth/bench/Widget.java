package dev.berth.bench;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** The custom resource. */
@Group("josdk.bench.berth.dev")
@Version("v1")
public class Widget extends CustomResource<Widget.Spec, Widget.Status> implements Namespaced {

  /** What the Pod shall run. */
  public static class Spec {
    private String image;

    public String getImage() {
      return image;
    }

    public void setImage(String image) {
      this.image = image;
    }
  }

  /** There because custom resources have one; nobody writes it here. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Status {
    private String podName;

    public String getPodName() {
      return podName;
    }

    public void setPodName(String podName) {
      this.podName = podName;
    }
  }
}
