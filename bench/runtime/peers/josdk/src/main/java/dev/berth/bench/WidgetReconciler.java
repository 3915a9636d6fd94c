package dev.berth.bench;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.net.HttpURLConnection;
import java.util.List;

/** A Pod for every Widget: one plain create, no server-side apply, and no finalizer since nothing is to be cleaned. */
@ControllerConfiguration(informer = @Informer(namespaces = "bench-josdk"))
public class WidgetReconciler implements Reconciler<Widget> {

  /** Pods that a Widget owns; their events lead back to it through the owner reference. */
  @Override
  public List<EventSource<?, Widget>> prepareEventSources(EventSourceContext<Widget> context) {
    var pods =
        InformerEventSourceConfiguration.from(Pod.class, Widget.class)
            .withNamespacesInheritedFromController()
            .build();
    return List.of(new InformerEventSource<>(pods, context));
  }

  @Override
  public UpdateControl<Widget> reconcile(Widget widget, Context<Widget> context) {
    if (context.getSecondaryResource(Pod.class).isEmpty()) {
      create(podFor(widget), context);
    }
    return UpdateControl.noUpdate();
  }

  private static Pod podFor(Widget widget) {
    var pod =
        new PodBuilder()
            .withNewMetadata()
            .withName(widget.getMetadata().getName())
            .withNamespace(widget.getMetadata().getNamespace())
            .endMetadata()
            .withNewSpec()
            .withSchedulerName("none")
            .addNewContainer()
            .withName("main")
            .withImage(widget.getSpec().getImage())
            .endContainer()
            .endSpec()
            .build();
    var owner = pod.addOwnerReference(widget);
    owner.setController(true);
    owner.setBlockOwnerDeletion(true);
    return pod;
  }

  /** The framework's own create: a POST whose answer goes straight into the cache. */
  private static void create(Pod pod, Context<Widget> context) {
    try {
      context.resourceOperations().create(pod);
    } catch (KubernetesClientException exception) {
      if (exception.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw exception;
      }
    }
  }
}
