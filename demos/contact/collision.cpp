// A C interface to Bullet's collision detection.
//
// Bullet sees every body enlarged by a skin, so that approaching faces have contact points before they meet.
// The points are then projected back to the bodies, and the gap is the distance between them.
#include "collision.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include <btBulletCollisionCommon.h>

namespace {

// Bullet's dispatcher, with the pairs distributed among threads. Only manifolds need a lock here: the creation
// of algorithms is not parallel, because the library may be built without its own locks, as in Debian.
class shared_dispatcher : public btCollisionDispatcher {
public:
  shared_dispatcher(btCollisionConfiguration *configuration, workers *shared)
      : btCollisionDispatcher(configuration), shared_(shared) {}

  // Some algorithms create their manifold only with the first points.
  btPersistentManifold *getNewManifold(const btCollisionObject *a, const btCollisionObject *b) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return btCollisionDispatcher::getNewManifold(a, b);
  }

  void dispatchAllCollisionPairs(btOverlappingPairCache *cache, const btDispatcherInfo &info,
                                 btDispatcher *) override {
    btBroadphasePairArray &pairs = cache->getOverlappingPairArray();
    for (int k = 0; k < pairs.size(); k++)
      if (!pairs[k].m_algorithm) pairs[k].m_algorithm = algorithm_of(pairs[k]);
    job of = {this, &pairs, &info};
    workers_run(shared_, pairs.size(), 64, collide, &of);
  }

private:
  struct job {
    shared_dispatcher *self;
    btBroadphasePairArray *pairs;
    const btDispatcherInfo *info;
  };

  static btCollisionObject *object_of(const btBroadphaseProxy *proxy) {
    return static_cast<btCollisionObject *>(proxy->m_clientObject);
  }

  static btCollisionObjectWrapper wrapped(const btCollisionObject *object) {
    return {nullptr, object->getCollisionShape(), object, object->getWorldTransform(), -1, -1};
  }

  btCollisionAlgorithm *algorithm_of(const btBroadphasePair &pair) {
    const btCollisionObject *a = object_of(pair.m_pProxy0), *b = object_of(pair.m_pProxy1);
    const btCollisionObjectWrapper of_a = wrapped(a), of_b = wrapped(b);
    return needsCollision(a, b) ? findAlgorithm(&of_a, &of_b, nullptr, BT_CONTACT_POINT_ALGORITHMS) : nullptr;
  }

  static void collide(void *arguments, int first, int last) {
    const job &of = *static_cast<job *>(arguments);
    for (int k = first; k < last; k++) {
      btBroadphasePair &pair = (*of.pairs)[k];
      if (!pair.m_algorithm) continue;
      const btCollisionObjectWrapper a = wrapped(object_of(pair.m_pProxy0)),
                                     b = wrapped(object_of(pair.m_pProxy1));
      btManifoldResult result(&a, &b);
      pair.m_algorithm->processCollision(&a, &b, *of.info, &result);
    }
  }

  workers *shared_;
  std::mutex mutex_;
};

// A contact of the previous step.
struct old_contact {
  double local[2][3], reaction[3];
  bool taken;
};

// A manifold with at least one point. `first` is the index of its first contact.
struct touching {
  int later, earlier; // bodies; `later` has the higher index
  int first;
  btPersistentManifold *manifold;
};

} // namespace

struct collision {
  explicit collision(workers *with) : shared(with) {}
  workers *shared;
  btDefaultCollisionConfiguration configuration;
  shared_dispatcher dispatcher{&configuration, shared};
  btDbvtBroadphase broadphase;
  btCollisionWorld detector{&dispatcher, &broadphase, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btCollisionObject>> objects; // one per body
  std::vector<old_contact> previous; // contacts of the previous step; a manifold's companion ids are the index
                                     // of its first contact and the number of its contacts
  std::vector<touching> order;
  ~collision() {
    for (auto &object : objects) detector.removeCollisionObject(object.get());
  }
};

namespace {

btVector3 vector_of(const double v[3]) {
  return {static_cast<btScalar>(v[0]), static_cast<btScalar>(v[1]), static_cast<btScalar>(v[2])};
}

btTransform place_of(const body &b) {
  const double *q = b.rotation;
  return btTransform(btQuaternion(static_cast<btScalar>(q[1]), static_cast<btScalar>(q[2]),
                                  static_cast<btScalar>(q[3]), static_cast<btScalar>(q[0])),
                     vector_of(b.position));
}

// At most one centimetre, and less for thin bodies.
double skin_of(const body &b) {
  return std::min(0.01, 0.25 * std::min(b.half[0], std::min(b.half[1], b.half[2])));
}

std::unique_ptr<btCollisionShape> shape_of(const body &b) {
  const double skin = skin_of(b);
  if (b.shape == BODY_SPHERE) return std::make_unique<btSphereShape>(static_cast<btScalar>(b.half[0] + skin));
  if (b.shape == BODY_BOX) {
    const double half[3] = {b.half[0] + skin, b.half[1] + skin, b.half[2] + skin};
    auto box = std::make_unique<btBoxShape>(vector_of(half));
    box->setSafeMargin(vector_of(half), btScalar(0.1));
    box->initializePolyhedralFeatures();
    return box;
  }
  double corners[8][3];
  body_corners(&b, corners);
  const double slope = (corners[5][0] - corners[1][0]) / (corners[5][2] - corners[1][2]);
  for (auto &corner : corners) { // move the planes of all faces outwards by the skin
    const double up = corner[2] > 0 ? skin : -skin, out = skin * std::sqrt(1 + slope * slope) + slope * up;
    corner[0] += corner[0] > 0 ? out : -out;
    corner[1] += corner[1] > 0 ? skin : -skin;
    corner[2] += up;
  }
  auto hull = std::make_unique<btConvexHullShape>();
  for (const auto &corner : corners) hull->addPoint(vector_of(corner), false);
  hull->recalcLocalAabb();
  hull->setMargin(static_cast<btScalar>(0.1 * skin));
  hull->initializePolyhedralFeatures();
  return hull;
}

void add(collision &c, const body &b) {
  auto object = std::make_unique<btCollisionObject>();
  c.shapes.push_back(shape_of(b));
  object->setCollisionShape(c.shapes.back().get());
  object->setUserIndex(static_cast<int>(c.objects.size()));
  object->setWorldTransform(place_of(b));
  const bool fixed = !(b.mass > 0);
  /* Bullet's objects are static by default. */
  object->setCollisionFlags(fixed ? btCollisionObject::CF_STATIC_OBJECT : 0);
  c.objects.reserve(c.objects.size() + 1);
  c.detector.addCollisionObject(
      object.get(), fixed ? btBroadphaseProxy::StaticFilter : btBroadphaseProxy::DefaultFilter,
      fixed ? btBroadphaseProxy::AllFilter ^ btBroadphaseProxy::StaticFilter : btBroadphaseProxy::AllFilter);
  c.objects.push_back(std::move(object));
}

void update(collision &c, const world &w) {
  while (c.objects.size() < static_cast<size_t>(w.count)) add(c, w.bodies[c.objects.size()]);
  for (int k = 0; k < w.count; k++)
    if (w.bodies[k].mass > 0) c.objects[static_cast<size_t>(k)]->setWorldTransform(place_of(w.bodies[k]));
}

void clamp(double &x, double low, double high) {
  x = std::max(low, std::min(x, high));
}

// These are body_point and body_local with the axes that were computed for this step.
void place_point(const body &b, const double local[3], double point[3]) {
  for (int k = 0; k < 3; k++)
    point[k] = b.position[k] + b.axes[k][0] * local[0] + b.axes[k][1] * local[1] + b.axes[k][2] * local[2];
}

void local_of(const body &b, const double point[3], double local[3]) {
  double arm[3];
  for (int k = 0; k < 3; k++) arm[k] = point[k] - b.position[k];
  for (int k = 0; k < 3; k++) local[k] = b.axes[0][k] * arm[0] + b.axes[1][k] * arm[1] + b.axes[2][k] * arm[2];
}

// Projects a point of the skin, in the body's axes, to the body.
void put_back(const body &b, const btVector3 &local, const double outwards[3], double point[3]) {
  if (b.shape == BODY_SPHERE) {
    for (int k = 0; k < 3; k++) point[k] = b.position[k] + b.half[0] * outwards[k];
    return;
  }
  double own[3] = {local.x(), local.y(), local.z()}, corners[8][3];
  body_corners(&b, corners);
  clamp(own[1], corners[0][1], corners[2][1]);
  clamp(own[2], corners[0][2], corners[4][2]);
  const double part = (own[2] - corners[0][2]) / (corners[4][2] - corners[0][2]);
  const double half = corners[1][0] + part * (corners[5][0] - corners[1][0]);
  clamp(own[0], -half, half);
  place_point(b, own, point);
}

// Completes a normal with two tangents, which vary continuously with it.
void complete(double axes[3][3]) {
  const double *n = axes[0];
  const int least = std::fabs(n[2]) < 0.7 ? 2 : 0;
  double unit[3] = {0, 0, 0}, length = 0;
  unit[least] = 1;
  for (int k = 0; k < 3; k++)
    axes[1][k] = unit[(k + 1) % 3] * n[(k + 2) % 3] - unit[(k + 2) % 3] * n[(k + 1) % 3];
  for (int k = 0; k < 3; k++) length += axes[1][k] * axes[1][k];
  for (int k = 0; k < 3; k++) axes[1][k] /= std::sqrt(length);
  for (int k = 0; k < 3; k++)
    axes[2][k] = n[(k + 1) % 3] * axes[1][(k + 2) % 3] - n[(k + 2) % 3] * axes[1][(k + 1) % 3];
}

void fill(const world &w, const btPersistentManifold &manifold, const btManifoldPoint &p, contact &c) {
  c = contact();
  c.a = manifold.getBody0()->getUserIndex();
  c.b = manifold.getBody1()->getUserIndex();
  double length = 0, outwards[3], of_a[3], of_b[3];
  for (int k = 0; k < 3; k++) c.axes[0][k] = p.m_normalWorldOnB[k];
  for (const double x : c.axes[0]) length += x * x;
  for (double &x : c.axes[0]) x /= std::sqrt(length);
  complete(c.axes);
  for (int k = 0; k < 3; k++) outwards[k] = -c.axes[0][k];
  const body &a = w.bodies[c.a], &b = w.bodies[c.b];
  put_back(a, p.m_localPointA, outwards, of_a);
  put_back(b, p.m_localPointB, c.axes[0], of_b);
  for (int k = 0; k < 3; k++) {
    c.gap += c.axes[0][k] * (of_a[k] - of_b[k]);
    c.point[k] = 0.5 * (of_a[k] + of_b[k]);
  }
  local_of(a, c.point, c.local[0]);
  local_of(b, c.point, c.local[1]);
}

// Returns how far a contact point moved, on the body on which it moved less.
double moved(const old_contact &from, const contact &to) {
  double squares[2] = {0, 0};
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 3; k++)
      squares[side] += (from.local[side][k] - to.local[side][k]) * (from.local[side][k] - to.local[side][k]);
  return std::sqrt(std::min(squares[0], squares[1]));
}

// Copies the reaction of the nearest old contact between the same two bodies. Each old contact is used once.
void inherit(old_contact *first, int count, contact &c) {
  const double at_most = 0.05;
  old_contact *nearest = nullptr;
  double least = at_most;
  for (old_contact *old = first; old < first + count; old++)
    if (!old->taken && moved(*old, c) < least) {
      least = moved(*old, c);
      nearest = old;
    }
  if (!nearest) return;
  std::copy(nearest->reaction, nearest->reaction + 3, c.reaction);
  nearest->taken = true;
}

void remember(collision &c, const world &w) {
  c.previous.resize(static_cast<size_t>(w.contact_count));
  for (int k = 0; k < w.contact_count; k++) {
    const contact &from = w.contacts[k];
    old_contact &to = c.previous[static_cast<size_t>(k)];
    std::copy(&from.local[0][0], &from.local[0][0] + 6, &to.local[0][0]);
    std::copy(from.reaction, from.reaction + 3, to.reaction);
    to.taken = false;
  }
}

// Sorts the manifolds with points by their bodies. Scenes add bodies from the bottom to the top, like masonry.
// Gauss-Seidel then needs fewer sweeps than in Bullet's order or in order of height, and the order does not
// depend on the history. Returns the number of points.
int put_in_order(collision &c) {
  int points = 0;
  c.order.clear();
  for (int k = 0; k < c.dispatcher.getNumManifolds(); k++) {
    btPersistentManifold *m = c.dispatcher.getManifoldByIndexInternal(k);
    const int a = m->getBody0()->getUserIndex(), b = m->getBody1()->getUserIndex();
    if (m->getNumContacts())
      c.order.push_back({std::max(a, b), std::min(a, b), 0, m});
    else
      m->m_companionIdB = 0;
  }
  std::sort(c.order.begin(), c.order.end(), [](const touching &x, const touching &y) {
    return x.later != y.later ? x.later < y.later : x.earlier < y.earlier;
  });
  for (touching &t : c.order) {
    t.first = points;
    points += t.manifold->getNumContacts();
  }
  return points;
}

struct filling {
  collision *c;
  world *w;
};

void fill_some(void *arguments, int begin, int end) {
  const filling &f = *static_cast<filling *>(arguments);
  for (int k = begin; k < end; k++) {
    const touching &t = f.c->order[static_cast<size_t>(k)];
    const int points = t.manifold->getNumContacts();
    for (int i = 0; i < points; i++) {
      contact &made = f.w->contacts[t.first + i];
      fill(*f.w, *t.manifold, t.manifold->getContactPoint(i), made);
      inherit(f.c->previous.data() + t.manifold->m_companionIdA, t.manifold->m_companionIdB, made);
    }
    t.manifold->m_companionIdA = t.first;
    t.manifold->m_companionIdB = points;
  }
}

// Clears the manifolds first, because Bullet would keep the old points of sliding bodies.
void detect(collision &c) {
  for (int k = 0; k < c.dispatcher.getNumManifolds(); k++)
    c.dispatcher.getManifoldByIndexInternal(k)->clearManifold();
  c.detector.performDiscreteCollisionDetection();
}

} // namespace

collision *collision_create(const world *w, workers *shared) {
  try {
    auto c = std::make_unique<collision>(shared);
    gContactBreakingThreshold =
        btScalar(0.001); // Bullet merges points that are closer than this, relative to the size
    c->detector.getDispatchInfo().m_enableSatConvex = true; // for overlapping skins, the normal case here
    for (int k = 0; k < w->count; k++) add(*c, w->bodies[k]);
    return c.release();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void collision_destroy(collision **made) {
  delete *made;
  *made = nullptr;
}

int collision_detect(collision *c, world *w) {
  try {
    update(*c, *w);
    remember(*c, *w);
    detect(*c);
    w->contact_count = 0;
    const int points = put_in_order(*c);
    if (world_reserve_contacts(w, points)) return 1;
    w->contact_count = points;
    filling f = {c, w};
    workers_run(c->shared, static_cast<int>(c->order.size()), 32, fill_some, &f);
  } catch (const std::bad_alloc &) {
    return 1;
  }
  return 0;
}

int collision_pick(const collision *c, const double origin[3], const double direction[3], double point[3]) {
  double length = 0, end[3];
  for (int k = 0; k < 3; k++) length += direction[k] * direction[k];
  for (int k = 0; k < 3; k++) end[k] = origin[k] + 1000 * direction[k] / std::sqrt(length);
  btCollisionWorld::ClosestRayResultCallback hit(vector_of(origin), vector_of(end));
  c->detector.rayTest(vector_of(origin), vector_of(end), hit);
  if (!hit.hasHit() || hit.m_collisionObject->isStaticObject()) return -1;
  for (int k = 0; k < 3; k++) point[k] = hit.m_hitPointWorld[k];
  return hit.m_collisionObject->getUserIndex();
}
