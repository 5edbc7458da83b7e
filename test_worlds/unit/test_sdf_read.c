/* What a world file says, as plain data. */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/sdf_text.h"

#define BALL "<collision name='c'><geometry><sphere><radius>0.5</radius></sphere></geometry></collision>"

static pcScene* readGood(const char* text)
{
    pcScene* scene;
    if (sdfRead(text, &scene) != PC_OK) PC_FAIL("%s", pcLastError());
    return scene;
}

static void expectPlace(const pcPose* pose, double x, double y, double z)
{
    PC_EXPECT_NEAR(x, pose->position[0], 1e-12);
    PC_EXPECT_NEAR(y, pose->position[1], 1e-12);
    PC_EXPECT_NEAR(z, pose->position[2], 1e-12);
}

static void expectVector(const double* v, double x, double y, double z)
{
    PC_EXPECT_NEAR(x, v[0], 1e-12);
    PC_EXPECT_NEAR(y, v[1], 1e-12);
    PC_EXPECT_NEAR(z, v[2], 1e-12);
}

/* ---- links ---- */

PC_TEST(SdfRead, LinkWithoutInertialHasTheSpecificationsDefaults)
{
    pcScene* s = readGood(sdfWorld("1.6", "<model name='m'><link name='l'/></model>"));
    PC_ASSERT_TRUE(s != NULL);
    PC_ASSERT_EQ_INT(1, s->links);
    PC_EXPECT_EQ_STR("m::l", s->link[0].name);
    PC_EXPECT_NEAR(1.0, s->link[0].mass, 0);
    PC_EXPECT_NEAR(1.0, s->link[0].inertia[4], 1e-15);
    PC_EXPECT_TRUE(s->link[0].gravity);
    PC_EXPECT_FALSE(s->link[0].fixed);
    PC_EXPECT_NEAR(-9.8, s->physics.gravity[2], 0);
    PC_EXPECT_NEAR(0.001, s->physics.step, 0);
    PC_EXPECT_EQ_STR("", s->skipped);
    pcSceneFree(s);
}

PC_TEST(SdfRead, PosesOfNestedModelsAddUp)
{
    pcScene* s = readGood(sdfWorld("1.5", "<model name='a'><pose>1 0 0 0 0 1.5707963267948966</pose>"
                                          "<model name='b'><pose>1 0 0 0 0 0</pose><link name='l'><pose>0 2 0 0 0 0</pose>"
                                          "<inertial><pose>0 0 3 0 0 0</pose></inertial>"
                                          "<collision name='c'><pose>0 0 -1 0 0 0</pose><geometry><sphere><radius>1</radius></sphere>"
                                          "</geometry></collision></link></model></model>"));
    PC_ASSERT_TRUE(s != NULL);
    PC_EXPECT_EQ_STR("a::b::l", s->link[0].name);
    expectPlace(&s->link[0].pose, -1, 1, 0);
    expectVector(s->link[0].centre, 0, 0, 3);
    expectPlace(&s->collision[0].pose, 0, 0, -1);
    pcSceneFree(s);
}

/* Turned by a quarter about z, what was about x is about y. */
PC_TEST(SdfRead, InertiaTurnsWithItsPose)
{
    pcScene* s =
        readGood(sdfWorld("1.6", "<model name='m'><link name='l'><inertial><pose>0 0 0 0 0 1.5707963267948966</pose><mass>2</mass>"
                                 "<inertia><ixx>1</ixx><iyy>2</iyy><izz>3</izz><ixy>0.1</ixy></inertia></inertial></link></model>"));
    PC_ASSERT_TRUE(s != NULL);
    PC_EXPECT_NEAR(2.0, s->link[0].inertia[0], 1e-12);
    PC_EXPECT_NEAR(1.0, s->link[0].inertia[4], 1e-12);
    PC_EXPECT_NEAR(3.0, s->link[0].inertia[8], 1e-12);
    PC_EXPECT_NEAR(-0.1, s->link[0].inertia[1], 1e-12);
    pcSceneFree(s);
}

PC_TEST(SdfRead, FlagsOfModelsAndLinksAreKept)
{
    pcScene* s = readGood(sdfWorld("1.6", "<model name='m'><self_collide>1</self_collide><link name='a'><gravity>false</gravity>"
                                          "<kinematic>true</kinematic></link><link name='b'><self_collide>0</self_collide></link></model>"
                                          "<model name='f'><static>true</static><link name='l'/><model name='in'><link name='k'/></model>"
                                          "</model>"));
    PC_ASSERT_TRUE(s != NULL);
    PC_ASSERT_EQ_INT(4, s->links);
    PC_EXPECT_FALSE(s->link[0].gravity);
    PC_EXPECT_TRUE(s->link[0].kinematic);
    PC_EXPECT_TRUE(s->link[0].selfCollide);
    PC_EXPECT_FALSE(s->link[1].selfCollide);
    PC_EXPECT_EQ_INT(s->link[0].model, s->link[1].model);
    PC_EXPECT_TRUE(s->link[2].fixed);
    PC_EXPECT_TRUE(s->link[3].fixed);
    pcSceneFree(s);
}

/* ---- shapes ---- */

static pcSceneShape shapeOf(const char* geometry, pcScene** scene)
{
    *scene = readGood(
        sdfWorld("1.7", "<model name='m'><link name='l'><collision name='c'><geometry>%s</geometry></collision></link></model>", geometry));
    if (*scene && (*scene)->collisions == 1) return (*scene)->collision[0].shape;
    PC_FAIL("%s made no collision", geometry);
    return (pcSceneShape){.pieces = -1};
}

PC_TEST(SdfRead, EveryGeometryIsRead)
{
    static const struct {
        const char* text;
        pcSceneKind kind;
        double size[3];
    } table[] = {{"<box><size>1 2 3</size></box>", PC_SCENE_BOX, {1, 2, 3}},
                 {"<sphere><radius>.5</radius></sphere>", PC_SCENE_SPHERE, {0.5}},
                 {"<cylinder><radius>1</radius><length>2</length></cylinder>", PC_SCENE_CYLINDER, {1, 2}},
                 {"<capsule><radius>1</radius><length>2</length></capsule>", PC_SCENE_CAPSULE, {1, 2}},
                 {"<ellipsoid><radii>1 2 3</radii></ellipsoid>", PC_SCENE_ELLIPSOID, {1, 2, 3}},
                 {"<plane><normal>0 0 2</normal></plane>", PC_SCENE_PLANE, {0}}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        PC_CASE("%s", table[i].text);
        pcScene* s;
        pcSceneShape shape = shapeOf(table[i].text, &s);
        PC_EXPECT_EQ_INT(table[i].kind, shape.kind);
        for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(table[i].size[k], shape.size[k], 0);
        if (shape.kind == PC_SCENE_PLANE) expectVector(shape.normal, 0, 0, 1);
        pcSceneFree(s);
    }
}

PC_TEST(SdfRead, PolylinesArePrisms)
{
    pcScene* s;
    pcSceneShape shape = shapeOf("<polyline><point>0 0</point><point>1 0</point><point>1 1</point><point>0.5 0.9</point><point>0 1</point>"
                                 "<height>2</height></polyline><polyline><point>2 0</point><point>3 0</point><point>2 1</point>"
                                 "<height>1</height></polyline>",
                                 &s);
    PC_EXPECT_EQ_INT(PC_SCENE_HULLS, shape.kind);
    PC_ASSERT_EQ_INT(2, shape.pieces);
    PC_EXPECT_EQ_INT(8, shape.piece[0].count); /* the corner that turns in is gone */
    PC_EXPECT_EQ_INT(6, shape.piece[1].count);
    PC_EXPECT_TRUE(strstr(s->skipped, "polyline that is not convex") != NULL);
    pcSceneFree(s);
}

/* ---- meshes ---- */

static void writeFile(const char* folder, const char* name, const void* bytes, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size) PC_FAIL("cannot write %s", path);
    if (file) fclose(file);
}

static const char* cubeObj(int groups)
{
    static char text[4096];
    char* at = text;
    for (int g = 0; g < groups; g++) {
        at += sprintf(at, "o piece%d\n", g);
        for (int i = 0; i < 8; i++) at += sprintf(at, "v %d %d %d\n", 2 * g + (i & 1), i >> 1 & 1, i >> 2 & 1);
        at += sprintf(at, "v %g 0.5 0.5\n", 2 * g + 0.5); /* inside */
        at += sprintf(at, "f -9/1/1 -8 -7//2 -6\nf -5 -4 -3 -2 -1\n");
    }
    return text;
}

/* Twelve triangles would do; three that have all eight corners do as well. */
static size_t cubeStl(unsigned char* bytes)
{
    static const int corner[9] = {0, 1, 2, 3, 4, 5, 6, 7, 0};
    unsigned count = 3;
    memset(bytes, 'x', 80);
    memcpy(bytes + 80, &count, 4);
    for (int t = 0; t < 3; t++) {
        float f[12] = {0};
        for (int i = 0; i < 9; i++) f[3 + i] = (float)(corner[3 * t + i / 3] >> i % 3 & 1);
        memcpy(bytes + 84 + 50 * t, f, 48);
        memset(bytes + 84 + 50 * t + 48, 0, 2);
    }
    return 84 + 150;
}

PC_TEST(SdfRead, MeshesAreHullsOfObjAndStl)
{
    char folder[] = "/tmp/pcontact_XXXXXX", uri[600];
    static const char ascii[] =
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 2 0 0\nvertex 0 2 0\nendloop\nendfacet\n"
        "facet normal 0 0 1\nouter loop\nvertex 0 0 2\nvertex 2 0 0\nvertex 0.1 0.1 0.1\nendloop\nendfacet\nendsolid\n";
    static const struct {
        const char *file, *more;
        int pieces, points;
    } table[] = {{"two.obj", "", 1, 8},
                 {"two.obj", "<pcontact><pieces>1</pieces></pcontact>", 2, 8},
                 {"cube.stl", "", 1, 8},
                 {"text.STL", "<scale>1 1 3</scale>", 1, 4}};
    unsigned char stl[84 + 150];
    PC_ASSERT_TRUE(mkdtemp(folder) != NULL);
    writeFile(folder, "two.obj", cubeObj(2), strlen(cubeObj(2)));
    writeFile(folder, "cube.stl", stl, cubeStl(stl));
    writeFile(folder, "text.STL", ascii, sizeof ascii - 1);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        PC_CASE("%s %s", table[i].file, table[i].more);
        pcScene* s;
        snprintf(uri, sizeof uri, "<mesh><uri>file://%s/%s</uri>%s</mesh>", folder, table[i].file, table[i].more);
        pcSceneShape shape = shapeOf(uri, &s);
        PC_ASSERT_EQ_INT(table[i].pieces, shape.pieces);
        PC_EXPECT_EQ_INT(table[i].points, shape.piece[0].count);
        double top = 0.0;
        for (int k = 0; k < shape.piece[0].count; k++) top = fmax(top, shape.piece[0].xyz[3 * k + 2]);
        PC_EXPECT_NEAR(i == 3 ? 6.0 : 1.0, top, 1e-12);
        pcSceneFree(s);
    }
    snprintf(uri, sizeof uri, "rm -r %s", folder);
    PC_EXPECT_EQ_INT(0, system(uri));
}

PC_TEST(SdfRead, AnStlThatIsCutShortIsRefused)
{
    char folder[] = "/tmp/pcontact_XXXXXX", command[100];
    unsigned char stl[84 + 150];
    PC_ASSERT_TRUE(mkdtemp(folder) != NULL);
    cubeStl(stl);
    for (int cut = 0; cut < 4; cut++) {
        pcScene* s;
        unsigned count = cut == 0 ? 1000 : cut == 1 ? 0xffffffffu : 3;
        PC_CASE("cut %d", cut);
        memcpy(stl + 80, &count, sizeof count);
        writeFile(folder, "short.stl", stl, cut < 2 ? sizeof stl : cut == 2 ? sizeof stl - 1 : 84);
        pcStatus status = sdfRead(sdfWorld("1.6",
                                           "<model name='m'><link name='l'><collision name='c'><geometry>\n<mesh><uri>file://%s/"
                                           "short.stl</uri></mesh></geometry></collision></link></model>",
                                           folder),
                                  &s);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, status);
        PC_EXPECT_TRUE(strstr(pcLastError(), ".sdf:4: ") && strstr(pcLastError(), "triangles, and ends after"));
        pcSceneFree(s);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    PC_EXPECT_EQ_INT(0, system(command));
}

/* ---- surfaces ---- */

PC_TEST(SdfRead, SurfacesAreReadInFull)
{
    pcScene* s = readGood(sdfWorld(
        "1.6", "<model name='m'><link name='l'><collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry>"
               "<max_contacts>3</max_contacts><surface><friction><ode><mu>.1</mu><mu2>.2</mu2><fdir1>1 0 0</fdir1><slip1>.3</slip1>"
               "<slip2>.4</slip2></ode><torsional><coefficient>.5</coefficient><patch_radius>.6</patch_radius></torsional></friction>"
               "<bounce><restitution_coefficient>.7</restitution_coefficient><threshold>.8</threshold></bounce><contact>"
               "<collide_bitmask>0x0f</collide_bitmask><collide_without_contact>1</collide_without_contact><ode><soft_cfm>1</soft_cfm>"
               "<soft_erp>0.5</soft_erp><kp>3</kp><kd>4</kd><max_vel>5</max_vel><min_depth>6</min_depth></ode></contact></surface>"
               "</collision><collision name='d'><geometry><sphere><radius>1</radius></sphere></geometry></collision></link></model>"));
    PC_ASSERT_TRUE(s != NULL);
    const pcSceneSurface *a = &s->collision[0].surface, *b = &s->collision[1].surface;
    const double got[] = {a->mu,        a->mu2,     a->fdir1[0], a->slip1, a->slip2, a->torsion, a->patchRadius, a->bounce,
                          a->threshold, a->softCfm, a->softErp,  a->kp,    a->kd,    a->fastest, a->minDepth};
    const double want[] = {.1, .2, 1, .3, .4, .5, .6, .7, .8, 1, .5, 3, 4, 5, 6};
    for (size_t i = 0; i < sizeof got / sizeof *got; i++) PC_EXPECT_NEAR(want[i], got[i], 0);
    PC_EXPECT_TRUE(a->passive);
    PC_EXPECT_EQ_INT(15, s->collision[0].bits);
    PC_EXPECT_EQ_INT(3, s->collision[0].maxContacts);
    PC_EXPECT_NEAR(1.0, b->mu, 0);
    PC_EXPECT_TRUE(isnan(b->kp) && isnan(b->fastest));
    PC_EXPECT_EQ_INT(0xffff, s->collision[1].bits);
    pcSceneFree(s);
}

/* One number each: along the normal. Where <surface> has no kp and kd, they are the layer's. */
PC_TEST(SdfRead, LayersAreReadInFull)
{
    pcScene* s = readGood(sdfWorld(
        "1.6", "<model name='m'><link name='l'><collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry><pcontact>"
               "<layer><stiffness>1000</stiffness><damping>2</damping><deepest>.05</deepest></layer></pcontact></collision>"
               "<collision name='d'><geometry><sphere><radius>1</radius></sphere></geometry><surface><contact><ode><kp>7</kp><kd>8</kd>"
               "</ode></contact></surface><pcontact><layer><stiffness>11 12 13 14 15 16 17 18 29</stiffness></layer></pcontact></collision>"
               "<collision name='e'><geometry><sphere><radius>1</radius></sphere></geometry></collision></link></model>"));
    PC_ASSERT_TRUE(s != NULL);
    const pcSceneCollision *a = s->collision, *b = s->collision + 1;
    const double matrix[9] = {11, 12, 13, 14, 15, 16, 17, 18, 29};
    PC_EXPECT_TRUE(a->soft && b->soft && !s->collision[2].soft);
    PC_EXPECT_TRUE(!a->layer.tangential && b->layer.tangential);
    PC_EXPECT_NEAR(1000, a->layer.stiffness[0], 0);
    PC_EXPECT_NEAR(2, a->layer.damping[0], 0);
    PC_EXPECT_NEAR(0.05, a->layer.deepest, 0);
    for (int i = 0; i < 9; i++) PC_EXPECT_NEAR(matrix[i], b->layer.stiffness[i], 0);
    PC_EXPECT_TRUE(b->layer.deepest == HUGE_VAL && b->layer.damping[0] == 0.0);
    PC_EXPECT_NEAR(1000, a->surface.kp, 0);
    PC_EXPECT_NEAR(2, a->surface.kd, 0);
    PC_EXPECT_NEAR(7, b->surface.kp, 0);
    PC_EXPECT_NEAR(8, b->surface.kd, 0);
    PC_EXPECT_EQ_STR("", s->skipped);
    pcSceneFree(s);
}

/* ---- joints ---- */

static void expectAxis(const char* version, const char* axis, double x, double y, double z)
{
    pcScene* s = readGood(sdfWorld(version,
                                   "<model name='m'><pose>0 0 0 0 0 1.5707963267948966</pose><link name='a'/><link name='b'>"
                                   "<pose>1 0 0 1.5707963267948966 0 0</pose></link><joint name='j' type='revolute'><parent>a</parent>"
                                   "<child>b</child><pose>0 0 1 0 0 0</pose><axis>%s</axis></joint></model>",
                                   axis));
    PC_CASE("%s %s", version, axis);
    PC_ASSERT_TRUE(s != NULL);
    expectVector(s->joint[0].axis[0].xyz, x, y, z);
    expectVector(s->joint[0].anchor, 1, 1, 0); /* child frame: z is the model's -y, which is the world's x */
    PC_EXPECT_EQ_INT(0, s->joint[0].parent);
    PC_EXPECT_EQ_INT(1, s->joint[0].child);
    pcSceneFree(s);
}

PC_TEST(SdfRead, AxesAreInTheFrameOfTheirVersion)
{
    expectAxis("1.4", "<xyz>1 0 0</xyz>", 0, 1, 0);
    expectAxis("1.4", "<xyz>0 0 1</xyz>", 0, 0, 1);
    expectAxis("1.5", "<xyz>0 0 1</xyz>", 1, 0, 0);
    expectAxis("1.5", "<xyz>0 0 1</xyz><use_parent_model_frame>1</use_parent_model_frame>", 0, 0, 1);
    expectAxis("1.7", "<xyz>0 0 2</xyz>", 1, 0, 0);
    expectAxis("1.7", "<xyz expressed_in='__model__'>0 0 1</xyz>", 0, 0, 1);
    expectAxis("1.7", "<xyz expressed_in='a'>0 1 0</xyz>", -1, 0, 0);
}

PC_TEST(SdfRead, JointsAreReadInFull)
{
    pcScene* s = readGood(sdfWorld(
        "1.6",
        "<model name='m'><link name='a'/><joint name='j' type='revolute'><parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz>"
        "<limit><lower>-1</lower><upper>inf</upper><effort>5</effort></limit><dynamics><damping>.1</damping><friction>.2</friction>"
        "<spring_stiffness>.3</spring_stiffness><spring_reference>.4</spring_reference></dynamics></axis><physics><ode><cfm>.5</cfm>"
        "<erp>.6</erp><limit><cfm>.7</cfm><erp>.8</erp></limit></ode></physics></joint>"
        "<joint name='k' type='screw'><parent>a</parent><child>world</child><thread_pitch>4</thread_pitch></joint></model>"));
    PC_ASSERT_TRUE(s != NULL);
    PC_ASSERT_EQ_INT(2, s->joints);
    const pcSceneJoint* j = s->joint;
    PC_EXPECT_EQ_STR("m::j", j->name);
    PC_EXPECT_EQ_INT(PC_SCENE_WORLD, j->parent);
    PC_EXPECT_NEAR(-1, j->axis[0].lower, 0);
    PC_EXPECT_TRUE(isinf(j->axis[0].upper));
    const double got[] = {j->axis[0].damping, j->axis[0].friction, j->axis[0].stiffness, j->axis[0].reference, j->cfm, j->erp,
                          j->stopCfm,         j->stopErp};
    for (int i = 0; i < 8; i++) PC_EXPECT_NEAR(0.1 * (i + 1), got[i], 1e-15);
    PC_EXPECT_NEAR(-0.25, j[1].pitch, 1e-15);
    PC_EXPECT_EQ_INT(PC_SCENE_WORLD, j[1].child);
    pcSceneFree(s);
}

/* ---- frames ---- */

PC_TEST(SdfRead, FramesOfVersion17AreFollowed)
{
    pcScene* s = readGood(sdfWorld(
        "1.7", "<frame name='mark'><pose>10 0 0 0 0 1.5707963267948966</pose></frame>"
               "<model name='m'><pose relative_to='mark'>1 0 0 0 0 0</pose><link name='a'><pose relative_to='f'>0 0 1 0 0 0</pose></link>"
               "<frame name='f' attached_to='b'><pose>0 1 0 0 0 0</pose></frame><link name='b'><pose>0 0 5 0 0 0</pose></link></model>"
               "<model name='p' placement_frame='tip'><pose>0 0 9 0 0 0</pose><link name='base'/><link name='tip'><pose>0 0 2 0 0 0</pose>"
               "</link></model>"));
    PC_ASSERT_TRUE(s != NULL);
    expectPlace(&s->link[0].pose, 9, 1, 6);
    expectPlace(&s->link[1].pose, 10, 1, 5);
    expectPlace(&s->link[2].pose, 0, 0, 7);
    expectPlace(&s->link[3].pose, 0, 0, 9);
    pcSceneFree(s);
}

/* ---- includes ---- */

PC_TEST(SdfRead, IncludesFollowModelUris)
{
    char folder[] = "/tmp/pcontact_XXXXXX", path[600];
    static const char config[] = "<model><sdf version='1.4'>old.sdf</sdf><sdf version='1.6'>new.sdf</sdf></model>";
    static const char old[] = "<sdf version='1.4'><model name='old'><link name='l'/></model></sdf>";
    static const char new[] = "<sdf version='1.6'><model name='new'><pose>0 0 1 0 0 0</pose><link name='l'/></model></sdf>";
    PC_ASSERT_TRUE(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/thing", folder);
    mkdir(path, 0700);
    writeFile(path, "model.config", config, strlen(config));
    writeFile(path, "old.sdf", old, strlen(old));
    writeFile(path, "new.sdf", new, strlen(new));
    setenv("PCONTACT_MODELS", folder, 1);
    pcScene* s = readGood(sdfWorld("1.6", "<include><uri>model://thing</uri></include><include><uri>model://thing</uri><name>other</name>"
                                          "<pose>5 0 0 0 0 0</pose><static>1</static></include><model name='outer'><include>"
                                          "<uri>model://thing</uri></include></model>"));
    unsetenv("PCONTACT_MODELS");
    PC_ASSERT_TRUE(s != NULL);
    PC_EXPECT_EQ_STR("new::l", s->link[0].name);
    expectPlace(&s->link[0].pose, 0, 0, 1);
    PC_EXPECT_EQ_STR("other::l", s->link[1].name);
    PC_EXPECT_TRUE(s->link[1].fixed);
    expectPlace(&s->link[1].pose, 5, 0, 0);
    PC_EXPECT_EQ_STR("outer::new::l", s->link[2].name);
    pcSceneFree(s);
    snprintf(path, sizeof path, "rm -r %s", folder);
    PC_EXPECT_EQ_INT(0, system(path));
}

/* ---- physics ---- */

PC_TEST(SdfRead, PhysicsAndOurSettingsAreRead)
{
    pcScene* s = readGood(sdfWorld(
        "1.6",
        "<gravity>0 0 -3</gravity><physics type='ode'><max_step_size>0.02</max_step_size><ode><solver><type>world</type><iters>7</iters>"
        "<sor>1.1</sor></solver><constraints><cfm>1e-5</cfm><erp>.3</erp><contact_max_correcting_vel>4</contact_max_correcting_vel>"
        "<contact_surface_layer>.5</contact_surface_layer></constraints></ode><pcontact><model>convex</model><gamma>1</gamma>"
        "<planar>xz</planar><time>12.5</time></pcontact></physics>"));
    PC_ASSERT_TRUE(s != NULL);
    const pcScenePhysics* p = &s->physics;
    PC_EXPECT_NEAR(-3, p->gravity[2], 0);
    PC_EXPECT_NEAR(0.02, p->step, 0);
    PC_EXPECT_FALSE(p->quick);
    PC_EXPECT_EQ_INT(7, p->iterations);
    PC_EXPECT_NEAR(1e-5, p->cfm, 0);
    PC_EXPECT_NEAR(0.3, p->erp, 0);
    PC_EXPECT_NEAR(4, p->fastest, 0);
    PC_EXPECT_NEAR(0.5, p->layer, 0);
    PC_EXPECT_EQ_INT(PC_MODEL_CONVEX, p->settings.model);
    PC_EXPECT_NEAR(1, p->settings.gamma, 0);
    PC_EXPECT_EQ_INT(2, p->planar);
    PC_EXPECT_NEAR(12.5, p->time, 0);
    pcSceneFree(s);
}

PC_TEST(SdfRead, WhatNobodyReadsIsOneLine)
{
    pcScene* s = readGood(sdfWorld("1.6", "<light name='l'/><plugin name='p' filename='x'/><model name='m'><link name='l'>" BALL
                                          "<visual name='v'/><visual name='w'/><sensor name='s' type='imu'/></link></model>"));
    PC_ASSERT_TRUE(s != NULL);
    PC_EXPECT_EQ_STR("2 visual, 1 sensor, 1 light, 1 plugin", s->skipped);
    pcSceneFree(s);
}

/* ---- names and states ---- */

PC_TEST(SdfRead, KindsMayShareNamesBefore17)
{
    static const char text[] =
        "<model name='m'><joint name='a' type='ball'><parent>b</parent><child>a</child></joint><link name='a'/>"
        "<link name='b'><pose>0 0 1 0 0 0</pose></link><frame name='b'/><model name='a'><link name='b'/></model></model>";
    pcScene *s = readGood(sdfWorld("1.6", "%s", text)), *none;
    PC_ASSERT_TRUE(s != NULL);
    PC_EXPECT_EQ_INT(1, s->joints);
    PC_EXPECT_EQ_STR("m::b", s->link[s->joint[0].parent].name);
    PC_EXPECT_EQ_STR("m::a", s->link[s->joint[0].child].name);
    pcSceneFree(s);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, sdfRead(sdfWorld("1.7", "%s", text), &none));
    pcSceneFree(none);
}

PC_TEST(SdfRead, StatesOfModelsThatAreNotThereAreSkipped)
{
    pcScene* s =
        readGood(sdfWorld("1.6", "<model name='m'><link name='l'/><model name='n'><link name='l'/></model></model><state>"
                                 "<model name='gone'><link name='l'><velocity>9 9 9 9 9 9</velocity></link></model><model name='m'>"
                                 "<link name='n::l'><velocity>1 2 3 4 5 6</velocity></link></model></state>"));
    PC_ASSERT_TRUE(s != NULL);
    PC_EXPECT_EQ_STR("1 state of a model that there is not", s->skipped);
    expectVector(s->link[0].velocity, 0, 0, 0);
    expectVector(s->link[1].velocity, 1, 2, 3);
    expectVector(s->link[1].velocity + 3, 4, 5, 6);
    pcSceneFree(s);
}

/* Looking through all links for each would take four hundred million comparisons of names. */
PC_TEST(SdfRead, StatesOfManyLinksAreReadAtOnce)
{
    enum { LINKS = 20000 };
    char *text = malloc(LINKS * 160 + 400), *at = text;
    PC_ASSERT_TRUE(text != NULL);
    at += sprintf(at, "<sdf version='1.6'><world name='w'><model name='m'>");
    for (int i = 0; i < LINKS; i++) at += sprintf(at, "<link name='link_of_a_long_name_%d'/>", i);
    at += sprintf(at, "</model><state><model name='m'>");
    for (int i = 0; i < LINKS; i++) at += sprintf(at, "<link name='link_of_a_long_name_%d'><velocity>%d 0 0 0 0 0</velocity></link>", i, i);
    sprintf(at, "</model></state></world></sdf>");
    clock_t before = clock();
    pcScene* s = readGood(text);
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    free(text);
    PC_ASSERT_TRUE(s != NULL);
    printf("state of %d links: %.2f s\n", LINKS, seconds);
    for (int i = 0; i < LINKS; i += 999) PC_EXPECT_NEAR(i, s->link[i].velocity[0], 0);
    if (!*PCONTACT_SANITIZE) PC_EXPECT_LT(seconds, 2.0);
    pcSceneFree(s);
}

PC_TEST(SdfRead, LimitsMayBeAsLargeAsDoublesAre)
{
    pcScene* s =
        readGood(sdfWorld("1.6", "<model name='m'><link name='a'/><link name='b'/><joint name='j' type='revolute'><parent>a</parent>"
                                 "<child>b</child><axis><limit><lower>-1.79769e+308</lower><upper>1.79769e+308</upper></limit></axis>"
                                 "</joint></model>"));
    PC_ASSERT_TRUE(s != NULL);
    PC_EXPECT_TRUE(s->joint[0].axis[0].lower == -HUGE_VAL && s->joint[0].axis[0].upper == HUGE_VAL);
    pcSceneFree(s);
}

PC_TEST(SdfRead, OtherVersionsAreReadAndNoted)
{
    pcScene* s = readGood(sdfWorld("1.9", "<model name='m'><link name='l'>" BALL "</link></model>"));
    PC_ASSERT_TRUE(s != NULL);
    PC_EXPECT_EQ_STR("1 file of SDF version 1.9", s->skipped);
    pcSceneFree(s);
}

PC_TEST(SdfRead, AFileOfModelsAloneIsAWorld)
{
    pcScene* s = readGood("<sdf version='1.6'><model name='m'><link name='l'/></model></sdf>");
    PC_ASSERT_TRUE(s != NULL);
    PC_EXPECT_EQ_INT(1, s->links);
    pcSceneFree(s);
}

PC_TEST(SdfRead, NumbersHaveAPointInEveryLocale)
{
    setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* where there is none, nothing changes, and nothing is shown */
    pcScene* s = readGood(sdfWorld("1.6", "<gravity>0 0 -1.5</gravity>"));
    setlocale(LC_NUMERIC, "C");
    PC_ASSERT_TRUE(s != NULL);
    PC_EXPECT_NEAR(-1.5, s->physics.gravity[2], 0);
    pcSceneFree(s);
}
